// Where this page is: the addresses of its review, which a server of a team has several of, and who looks at it.

const { base = "", review = "", person = "", team = "no", role = "owner", answers = "yes" } = document.body.dataset;

export const BASE = base; // "" on the page of one reader
export const REVIEW = review;
export const PERSON = person;
export const IS_TEAM = team === "yes";
export const ROLE = role;
export const IS_OWNER = role === "owner";
export const MAY_ANSWER = answers === "yes"; // neither a reader nor in a frozen review

// The address of another page of this review: place("/history", {verdict: "maybe"})
export const place = (path = "", query = {}) => (BASE + path || "/") + asQuery(query);

export function asQuery(query) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}

// Where to log in, to come back to this page.
export const loginPlace = () => `/login${asQuery({ to: location.pathname + location.search })}`;
