// The one door to the server: JSON in and out, faults as ApiError with words for the reader.

const BASE = "/api/v1";

export class ApiError extends Error {
  constructor(status, code, message, details = {}) {
    super(message);
    this.status = status; // 0 where nothing came back
    this.code = code;
    this.details = details;
  }
}

export const get = (path, query = {}) => call("GET", path + asQuery(query));
export const post = (path, body = {}) => call("POST", path, body);
export const patch = (path, body) => call("PATCH", path, body);
export const drop = (path) => call("DELETE", path);
export const address = (path, query = {}) => BASE + path + asQuery(query);

export async function upload(path, file) {
  const form = new FormData();
  form.append("file", file);
  return answerOf(await sent(path, { method: "POST", headers: guard(), body: form }));
}

async function call(method, path, body) {
  const options = { method, headers: { Accept: "application/json", ...guard() } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  return answerOf(await sent(path, options));
}

async function sent(path, options) {
  try {
    return await fetch(BASE + path, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch {
    throw new ApiError(0, "unreachable", "The server does not answer.");
  }
}

async function answerOf(response) {
  const text = await response.text().catch(() => "");
  const told = asJson(text);
  if (response.ok) return told;
  const error = told?.error ?? {};
  throw new ApiError(response.status, error.code ?? "", error.message ?? `The server said ${response.status}.`, error);
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function guard() {
  return { "X-CSRF-Token": document.querySelector('meta[name="csrf"]').content };
}

function asQuery(query) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}
