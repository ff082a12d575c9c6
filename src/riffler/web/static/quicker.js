// An answer that came too late: another tab or somebody else was quicker, and what they said holds.

import { get } from "./api.js";
import { chip, element, hideBanner, showBanner } from "./dom.js";
import { IS_OWNER, IS_TEAM, PERSON } from "./places.js";

// Says what holds now; correct(record) is called where the reader wants to change it. Resolves to whether there was
// something to say: false where nothing holds that was not known when the answer was given.
export async function showQuicker(remark, correct) {
  const record = await get("/document", { id: remark.document }).catch(() => null);
  if (!record || (record.answer ?? null) === remark.body.expect) return false;
  const said = IS_TEAM ? await answerOf(record.id) : null;
  const isMine = !said || said.reviewer === PERSON;
  const close = () => hideBanner("conflict");
  const words = element("span", {}, isMine ? "In another tab you said " : `Meanwhile ${said.reviewer} said `,
    record.verdict ? chip(record.verdict) : "nothing", ` about “${record.title || record.id}”; here you said `,
    chip(remark.body.verdict), ". The first one holds.");
  const mayCorrect = IS_OWNER || (isMine && !said?.decided);
  const change = ["Correct it", () => { correct(record); close(); }];
  showBanner("conflict", "", words, mayCorrect ? [["Keep it", close], change] : [["Close", close]]);
  return true;
}

async function answerOf(document) {
  const [line] = await get("/history", { document, kind: "answer", holding: true, n: 1 }).catch(() => []);
  return line ?? null;
}
