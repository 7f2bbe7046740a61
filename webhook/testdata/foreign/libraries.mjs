// Says what other libraries make of the request on stdin, and has them sign it.
import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

const r = JSON.parse(readFileSync(0));

function passes(library, secret, body, timestamp, signature) {
  try {
    new library(secret).verify(body, {
      "webhook-id": r.id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signature,
    });
    return true;
  } catch (error) {
    if (error.name !== "WebhookVerificationError" && !error.message.includes("signature")) throw error;
    return false;
  }
}

function judged(library) {
  const verified = passes(library, r.whsec, r.body, r.timestamp, r.signature);
  return {
    verified,
    converted: verified && !passes(library, r.hex, r.body, r.timestamp, r.signature),
    changed: passes(library, r.whsec, r.body.replace("J", "G"), r.timestamp, r.signature),
    late: passes(library, r.whsec, r.body, r.late, r.lateSignature),
    signature: new library(r.whsec).sign(r.id, new Date(r.timestamp * 1000), r.body),
  };
}

// Node knows Ed25519, and nothing of webhooks: times are not its business.
function judgedByNode() {
  const x = Buffer.from(r.openssh.split(" ")[1], "base64").subarray(-32).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const item = r.signature.split(" ").find((item) => item.startsWith("v1a,"));
  const content = (body) => Buffer.from(`${r.id}.${r.timestamp}.${body}`);
  const passes = (body) => verify(null, content(body), key, Buffer.from(item.slice(4), "base64"));
  const own = generateKeyPairSync("ed25519");
  return {
    verified: passes(r.body),
    changed: passes(r.body.replace("J", "G")),
    signature: "v1a," + sign(null, content(r.body), own.privateKey).toString("base64"),
    publicKey: "whpk_" + Buffer.from(own.publicKey.export({ format: "jwk" }).x, "base64url").toString("base64"),
  };
}

console.log(JSON.stringify({ standardwebhooks: judged(Standard), svix: judged(Svix), "node:crypto": judgedByNode() }));
