// A few lines that every page uses to make and find elements.

export const byId = (id) => document.getElementById(id);

// element("p", {class: "soft"}, "text", child): texts stay texts.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const VERDICTS = { relevant: "Relevant", irrelevant: "Irrelevant", maybe: "Maybe", skip: "Skipped" };

export function chip(verdict) {
  return element("span", { class: `chip ${verdict}` }, VERDICTS[verdict] ?? verdict);
}

export const count = (number) => number.toLocaleString("en");

export const several = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

// A message at the head of the page; buttons: [[label, action], ...]
export function showBanner(id, kind, words, buttons = []) {
  const banner = element("div", { id, class: `banner ${kind}`, role: kind === "good" ? "status" : "alert" },
    element("p", {}, words),
    ...buttons.map(([label, action]) => element("button", { type: "button", class: "button small", onclick: action }, label)));
  byId(id)?.remove();
  byId("banners").append(banner);
  return banner;
}

export const hideBanner = (id) => byId(id)?.remove();

export function kept(name, otherwise) {
  try {
    return localStorage.getItem(`riffler:${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`riffler:${name}`, value);
  } catch { /* a private window forgets it, no more */ }
}
