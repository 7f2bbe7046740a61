// What the chip of a phone does with a digest. Which hash made it is told by its length.
import { constants, privateEncrypt, sign } from 'node:crypto';
import {
  children, context, integer, none, octets, oid, sequence, setOf, utcTime,
} from './der.mjs';

const hashes = {
  32: { name: 'sha256', oid: '2.16.840.1.101.3.4.2.1' },
  48: { name: 'sha384', oid: '2.16.840.1.101.3.4.2.2' },
  64: { name: 'sha512', oid: '2.16.840.1.101.3.4.2.3' },
};

export const isDigest = (content) => content.length in hashes;

const algorithm = (name) => sequence(oid(name), none());

// pkcs1 signs the digest itself (RFC 8017 8.2.1 from step 2 of 9.2 on).
export function pkcs1(digest, key) {
  const digestInfo = sequence(algorithm(hashes[digest.length].oid), octets(digest));
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, digestInfo);
}

const signedData = '1.2.840.113549.1.7.2';
const idData = '1.2.840.113549.1.7.1';
const rsaEncryption = '1.2.840.113549.1.1.1';
const contentType = '1.2.840.113549.1.9.3';
const messageDigest = '1.2.840.113549.1.9.4';
const signingTime = '1.2.840.113549.1.9.5';

// cms makes a detached SignedData (RFC 5652 5.1) for the content with that digest. It has a
// signing time and does not name the certificate.
export function cms(digest, key, certificate) {
  const hash = hashes[digest.length];
  const attributes = [
    sequence(oid(contentType), setOf(oid(idData))),
    sequence(oid(messageDigest), setOf(octets(digest))),
    sequence(oid(signingTime), setOf(utcTime(new Date()))),
  ];
  const signer = sequence(
    integer(1),
    issuerAndSerialNumber(certificate),
    algorithm(hash.oid),
    context(0, ...attributes.sort(Buffer.compare)),
    algorithm(rsaEncryption),
    octets(sign(hash.name, setOf(...attributes), key)), // RFC 5652 5.4: with the tag of a SET OF
  );
  return sequence(oid(signedData), context(0, sequence(
    integer(1),
    setOf(algorithm(hash.oid)),
    sequence(oid(idData)),
    context(0, certificate),
    setOf(signer),
  )));
}

// issuerAndSerialNumber copies both from the certificate (RFC 5280 4.1: version, serial number,
// algorithm, issuer; the version is [0]).
function issuerAndSerialNumber(certificate) {
  const [, serialNumber, , issuer] = children(children(certificate)[0]);
  return sequence(issuer, serialNumber);
}
