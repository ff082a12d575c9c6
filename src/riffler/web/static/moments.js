// Moments are kept in UTC, and told in the reader's own time.

export function localTime(moment) {
  return new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function showLocalTimes() {
  for (const one of document.querySelectorAll("time")) one.textContent = localTime(one.dateTime);
}
