// Files that the server makes are saved by the browser; where it makes none, there is a message in words.

import { address, ApiError } from "./api.js";
import { element } from "./dom.js";

export async function save(path, query) {
  const response = await fetch(address(path, query), { credentials: "same-origin" }).catch(() => null);
  if (!response) throw new ApiError(0, "unreachable", "The server does not answer. Nothing was saved.");
  if (!response.ok) throw new ApiError(response.status, "", (await response.json()).error.message);
  const name = nameIn(response.headers.get("Content-Disposition") ?? "");
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// A name with other letters than those of ASCII is sent percent-encoded, as filename*=utf-8''...
function nameIn(header) {
  const encoded = header.match(/filename\*=utf-8''([^;]+)/i)?.[1];
  return encoded ? decodeURIComponent(encoded) : header.match(/filename="?([^";]+)/)?.[1] ?? "riffler";
}
