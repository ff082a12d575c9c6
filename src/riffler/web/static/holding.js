// In a team the document on the screen is held for its reader, as long as something is heard of the page.

import { postInPassing } from "./api.js";
import { IS_TEAM } from "./places.js";
import { isWanted } from "./queue.js";

// Whether a document on the screen was given to somebody else meanwhile; found: what waits for this reader now.
export async function isLost(item, found) {
  if (!IS_TEAM || !item.suggestion) return false;
  const again = found.find(({ document }) => document.id === item.document.id);
  if (again) item.suggestion = again.suggestion;
  return !(await isWanted(item)); // said again: it may have been given back and taken anew
}

export function leaveWithThePage() {
  if (!IS_TEAM) return;
  addEventListener("pagehide", () => postInPassing("/leave"));
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}
