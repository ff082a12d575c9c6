// What goes wrong on a page is said at its head, in words; who was logged out is shown the way back in.

import { hideBanner, showBanner } from "./dom.js";
import { IS_TEAM, loginPlace } from "./places.js";

export function tellFault(error) {
  const isOut = IS_TEAM && error.status === 401;
  const words = isOut ? "You are logged out. Nothing of this was saved." : error.message;
  const buttons = isOut ? [["Log in", () => location.assign(loginPlace())]] : [];
  const banner = showBanner("fault", "bad", words, buttons);
  banner.scrollIntoView({ block: "nearest" });
}

// Runs something, and tells what went wrong; resolves to whether nothing did.
export async function guarded(work) {
  try {
    await work();
    return true;
  } catch (error) {
    tellFault(error);
    return false;
  }
}

// The same while a button is pressed, which cannot be pressed again meanwhile.
export async function pressed(button, work) {
  button.disabled = true;
  hideBanner("fault");
  await guarded(work);
  button.disabled = false;
}
