// As much of DER (X.690) as a signature needs.

export const tlv = (tag, ...parts) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
};

function length(n) {
  if (n < 0x80) return [n];
  const bytes = [];
  for (let rest = n; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts) => tlv(0x30, ...parts);
export const setOf = (...parts) => tlv(0x31, ...parts.sort(Buffer.compare)); // X.690 11.6
export const octets = (content) => tlv(0x04, content);
export const integer = (n) => tlv(0x02, Buffer.from([n])); // below 128
export const none = () => tlv(0x05);
export const context = (n, ...parts) => tlv(0xa0 | n, ...parts);

export const utcTime = (at) => tlv(0x17, Buffer.from(
  `${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`,
));

export function oid(dotted) {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(n) {
  const bytes = [n & 0x7f];
  for (let rest = n >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

// children are the values within a constructed one, whole.
export function children(value) {
  const out = [];
  for (let at = header(value).size; at < value.length;) {
    const { size, content } = header(value.subarray(at));
    out.push(value.subarray(at, at + size + content));
    at += size + content;
  }
  return out;
}

function header(value) {
  if (value[1] < 0x80) return { size: 2, content: value[1] };
  const bytes = value[1] & 0x7f;
  return { size: 2 + bytes, content: value.readUIntBE(2, bytes) };
}
