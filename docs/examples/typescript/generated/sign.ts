// Signs a PDF in a sandbox with a client that is generated from the OpenAPI document, once as a signing
// request and once in a signing process:
//
//     npm install openapi-fetch && npm install --save-dev openapi-typescript typescript @types/node
//     npx openapi-typescript $INNSIGLI_URL/openapi.json --default-non-nullable=false --output api.d.ts
//     npx tsc
//     node sign.js document.pdf signed.pdf signed-in-process.pdf
//
// CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
// A path that does not exist, a member without its value or an answer that is read as what it is not
// does not compile.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./api.js";

type API = Client<paths>;

// connect returns a client with a token, which is good for an hour.
async function connect(baseUrl: string, id: string, secret: string): Promise<API> {
  const api = createClient<paths>({ baseUrl });
  const { data, error } = await api.POST("/api/v1/auth/token", {
    body: { grant_type: "client_credentials", client_id: id, client_secret: secret },
  });
  if (!data) throw new Error(`no token: ${JSON.stringify(error)}`);
  api.use({
    onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${data.access_token}`),
  });
  return api;
}

// testUser returns a user of the sandbox, who stands in for a person with a phone.
async function testUser(api: API) {
  const user = { fullName: "Sandbox Signer", kennitala: "0101302989", phone: "5550101" };
  const made = await api.POST("/api/v1/sandbox/users", { body: user });
  if (made.data) return made.data;
  const { data } = await api.GET("/api/v1/sandbox/users"); // there is one, from the last time
  const found = data?.items.find(({ kennitala }) => kennitala === user.kennitala);
  if (!found) throw new Error(`no sandbox user: ${JSON.stringify(made.error)}`);
  return found;
}

// sign asks a person to sign, and waits for the answer.
async function sign(api: API, kennitala: string, name: string, contentB64: string): Promise<string> {
  const { data: started, error } = await api.POST("/api/v1/signing", {
    body: {
      file: { type: "Pdf", name, contentB64 },
      signer: { kennitala, signingMethod: "IdpApp" },
      signatureImage: { alignment: "BottomRight", positioning: "Auto" },
    },
  });
  if (!started) throw new Error(`not started: ${JSON.stringify(error)}`);
  for (let interval = started.interval; ; ) {
    await sleep(1000 * interval);
    const { data, error } = await api.GET("/api/v1/signing/{pollingId}", {
      params: { path: { pollingId: started.pollingId } },
    });
    if (data) return data.signedFileB64;
    const errorCode = error && "errorCode" in error ? error.errorCode : undefined;
    if (errorCode === "SlowDown") interval += 5;
    else if (errorCode !== "AuthorizationPending") throw new Error(`not signed: ${JSON.stringify(error)}`);
  }
}

// signInProcess invites a participant, has the sandbox user answer the invitation, and returns what was signed.
async function signInProcess(api: API, sandboxUserId: string, name: string, contentBase64: string): Promise<string> {
  const { data: made, error } = await api.POST("/api/v1/portal/signing-processes", {
    body: {
      file: { name, contentBase64 },
      participants: [{ name: "Sandbox Signer", email: "signer@example.com", role: "Signer" }],
      signatureLocation: "BottomRight",
    },
  });
  if (!made) throw new Error(`no signing process: ${JSON.stringify(error)}`);
  const { signingProcessId } = made;
  for (const { participantId } of made.participants) {
    const { error } = await api.POST(
      "/api/v1/sandbox/portal/signing-processes/{signingProcessId}/participants/{participantId}/sign",
      { params: { path: { signingProcessId, participantId } }, body: { sandboxUserId } },
    );
    if (error) throw new Error(`not signed: ${JSON.stringify(error)}`);
  }
  const path = { signingProcessId };
  const { data: now } = await api.GET("/api/v1/portal/signing-processes/{signingProcessId}", { params: { path } });
  if (now?.status !== "Completed") throw new Error(`the signing process is ${now?.status}`);
  const { data: document } = await api.GET("/api/v1/portal/signing-processes/{signingProcessId}/document", {
    params: { path },
  });
  if (!document) throw new Error("the document is gone");
  return document.contentBase64;
}

const [source, signed, signedInProcess] = process.argv.slice(2);
const { INNSIGLI_URL = "http://127.0.0.1:8080", CLIENT_ID, CLIENT_SECRET } = process.env;
if (!source || !signed || !signedInProcess || !CLIENT_ID || !CLIENT_SECRET) throw new Error("see the first lines of this file");

const api = await connect(INNSIGLI_URL, CLIENT_ID, CLIENT_SECRET);
const user = await testUser(api);
const content = (await readFile(source)).toString("base64");
await writeFile(signed, await sign(api, user.kennitala, basename(source), content), "base64");
await writeFile(signedInProcess, await signInProcess(api, user.uuid, basename(source), content), "base64");
