// Keys that people press, and the keys that make a remark unique.

// A new name for a remark: sent twice after a lost reply, it is recorded once.
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only on safe origins, such as this machine
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Calls what belongs to a key, unless somebody is typing or holds a modifier.
export function onKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") || isPressing(event)) return;
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

export function isTyping(target) {
  return target instanceof HTMLElement
    && (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio])"));
}

// Enter and Space press the button that has the focus.
function isPressing({ key, target }) {
  return (key === "Enter" || key === " ") && target instanceof HTMLElement && target.matches("a, button, summary, input");
}
