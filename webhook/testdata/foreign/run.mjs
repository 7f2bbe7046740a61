// Says which of the requests on stdin the verifier of docs/webhooks.md takes.
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";

const taken = {};
for (const { name, headers, body, keys } of JSON.parse(readFileSync(0))) {
  taken[name] = verify(headers, Buffer.from(body, "base64"), keys);
}
console.log(JSON.stringify(taken));
