// Signs a PDF in a sandbox: node sign.ts document.pdf signed.pdf
//
// CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
// Node 22.18 or later runs it as it stands; for earlier ones tsc makes JavaScript of it.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const base = process.env["INNSIGLI_URL"] ?? "http://127.0.0.1:8080";

interface Started {
  pollingId: string;
  interval: number; // seconds
}

interface Polled {
  signedFileB64?: string;
  errorCode?: string | null;
  verificationCode?: string | null;
}

async function token(id: string, secret: string): Promise<string> {
  const answer = await fetch(`${base}/api/v1/auth/token`, {
    method: "POST",
    headers: { Authorization: "Basic " + Buffer.from(`${id}:${secret}`).toString("base64") },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  if (answer.status !== 200) throw new Error(`no token: ${await answer.text()}`);
  return ((await answer.json()) as { access_token: string }).access_token;
}

// call calls the API, and waits as long as an answer of 429 or 503 asks for.
async function call(token: string, path: string, body?: unknown): Promise<Response> {
  for (;;) {
    const answer = await fetch(base + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (answer.status !== 429 && answer.status !== 503) return answer;
    await sleep(1000 * Number(answer.headers.get("Retry-After") ?? "1"));
  }
}

async function sign(token: string, name: string, document: Buffer): Promise<Buffer> {
  // A sandbox user stands in for a person. 422: there is one, from the last time.
  const user = { fullName: "Sandbox Signer", kennitala: "0101302989", phone: "5550101" };
  const made = await call(token, "/api/v1/sandbox/users", user);
  if (made.status !== 200 && made.status !== 422) throw new Error(`no sandbox user: ${await made.text()}`);

  const answer = await call(token, "/api/v1/signing", {
    file: { type: "Pdf", name, contentB64: document.toString("base64") },
    signer: { kennitala: user.kennitala, signingMethod: "IdpApp" },
    signatureImage: { alignment: "BottomRight", positioning: "Auto" },
  });
  if (answer.status !== 200) throw new Error(`not started: ${await answer.text()}`);
  const { pollingId, interval } = (await answer.json()) as Started;

  for (let wait = interval; ; ) {
    await sleep(1000 * wait);
    const poll = await call(token, `/api/v1/signing/${pollingId}`);
    const polled = (await poll.json()) as Polled;
    if (polled.signedFileB64 !== undefined) return Buffer.from(polled.signedFileB64, "base64");
    if (polled.errorCode === "SlowDown") wait += 5;
    else if (polled.errorCode === "AuthorizationPending") console.log(`The phone shows ${polled.verificationCode ?? "no code yet"}.`);
    else throw new Error(`not signed: ${JSON.stringify(polled)}`);
  }
}

const [source, target] = process.argv.slice(2);
const { CLIENT_ID, CLIENT_SECRET } = process.env;
if (!source || !target || !CLIENT_ID || !CLIENT_SECRET) throw new Error("see the first lines of this file");
await writeFile(target, await sign(await token(CLIENT_ID, CLIENT_SECRET), basename(source), await readFile(source)));
