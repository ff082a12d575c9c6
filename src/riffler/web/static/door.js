// Forms with a password: a refusal is said beside the button, and who has to wait sees how long.

import { byId } from "./dom.js";

// Calls work() when a form is sent; what goes wrong is said in the element `told`.
export function onSubmit(form, told, work) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form.querySelector("button:not([type=button])"), told, work);
  });
}

export async function attempt(button, told, work) {
  say(told, "");
  button.disabled = true;
  try {
    await work();
    button.disabled = false;
  } catch (error) {
    if (error.status === 429 && error.seconds) wait(button, told, error.seconds);
    else {
      button.disabled = false;
      say(told, error.message);
    }
  }
}

// A new password is typed twice: nobody sees what is typed.
export function typedTwice() {
  if (byId("password").value === byId("again").value) return byId("password").value;
  byId("again").value = "";
  byId("again").focus();
  throw new Error("The two passwords differ. Type the second one again.");
}

function wait(button, told, seconds) {
  if (seconds <= 0) {
    say(told, "");
    button.disabled = false;
    return;
  }
  say(told, `Too many tries were wrong. You can try again in ${inWords(seconds)}.`);
  setTimeout(() => wait(button, told, seconds - 1), 1000);
}

const inWords = (seconds) => (seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`);

function say(told, words) {
  told.hidden = !words;
  if (told.textContent !== words) told.textContent = words;
}
