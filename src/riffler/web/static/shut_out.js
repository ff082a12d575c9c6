// Somebody who reads was removed, or may only look from now on: it is said, and what was not sent is shown.

import { get } from "./api.js";
import { showBanner } from "./dom.js";
import { IS_TEAM } from "./places.js";
import { drawUnsent } from "./unsent.js";

const REMOVED = "You are not a member of this review any more. Ask one of its owners if that is a mistake.";
const DEMOTED = "You may look at this review, but not answer in it any more. Ask one of its owners if that is a mistake.";

// Returns why nothing is taken from here any more; "" where an error means something else.
export async function whyShutOut(error) {
  if (!IS_TEAM || !(error.status === 404 || error.code === "not_allowed")) return "";
  try {
    return (await get("/review")).role === "reader" ? DEMOTED : "";
  } catch (other) {
    return other.status === 404 ? REMOVED : "";
  }
}

export function showShutOut(words, remarks) {
  const kept = remarks.length ? " What follows was not saved; it is kept in this browser." : "";
  const banner = showBanner("shut-out", "bad", words + kept, [["To my reviews", () => location.assign("/")]]);
  if (remarks.length) banner.append(drawUnsent(remarks));
  banner.scrollIntoView({ block: "nearest" });
}
