// The one door to the server: JSON in and out, faults as ApiError with words for the reader.

import { asQuery, BASE } from "./places.js";

const ROOT = "/api/v1";

export class ApiError extends Error {
  constructor(status, code, message, seconds = 0) {
    super(message);
    this.status = status; // 0 where nothing came back
    this.code = code;
    this.seconds = seconds; // to wait, where the server says so
  }
}

export const get = (path, query = {}) => call("GET", address(path, query));
export const post = (path, body = {}) => call("POST", address(path), body);
export const patch = (path, body) => call("PATCH", address(path), body);
export const drop = (path) => call("DELETE", address(path));
export const address = (path, query = {}) => ROOT + BASE + path + asQuery(query);

// What concerns the whole server, from a page of one of its reviews too.
export const postToServer = (path, body = {}) => call("POST", ROOT + path, body);
export const putToServer = (path, body) => call("PUT", ROOT + path, body);

// Sent while the page goes away, and nobody is there to read the reply.
export function postInPassing(path) {
  const headers = { "Content-Type": "application/json", ...guard() };
  fetch(address(path), { method: "POST", headers, body: "{}", credentials: "same-origin", keepalive: true }).catch(() => {});
}

export async function upload(path, file) {
  const form = new FormData();
  form.append("file", file);
  return answerOf(await sent(address(path), { method: "POST", headers: guard(), body: form }));
}

async function call(method, where, body) {
  const options = { method, headers: { Accept: "application/json", ...guard() } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  return answerOf(await sent(where, options));
}

async function sent(where, options) {
  try {
    return await fetch(where, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch {
    throw new ApiError(0, "unreachable", "The server does not answer.");
  }
}

async function answerOf(response) {
  const text = await response.text().catch(() => "");
  const told = asJson(text);
  if (response.ok) return told;
  const error = told?.error ?? {};
  const seconds = Number(response.headers.get("Retry-After")) || 0;
  throw new ApiError(response.status, error.code ?? "", error.message ?? `The server said ${response.status}.`, seconds);
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
