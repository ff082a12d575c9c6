// Runs before the first paint, so that a page never flashes in the other colours.
"use strict";
(() => {
  const KEPT = "riffler:theme";
  const root = document.documentElement;

  function kept() {
    try { return localStorage.getItem(KEPT); } catch { return null; }
  }

  function keep(theme) {
    try { localStorage.setItem(KEPT, theme); } catch { /* a private window forgets it, no more */ }
  }

  function current() {
    return root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  const chosen = kept();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => {
      button.setAttribute("aria-label", current() === "dark" ? "Use the light colours" : "Use the dark colours");
    };
    button?.addEventListener("click", () => {
      root.dataset.theme = current() === "dark" ? "light" : "dark";
      keep(root.dataset.theme);
      label();
      document.dispatchEvent(new CustomEvent("riffler:theme"));
    });
    if (button) label();
  });
})();
