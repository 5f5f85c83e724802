/** Packs files into a ZIP without compressing them, so that loose images go the way of a ZIP. Pure. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 of bytes, as ZIP files state it. */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ TABLE[(value ^ byte) & 0xff];
  return (value ^ 0xffffffff) >>> 0;
}

/** The parts of a ZIP of `files`, each {name, bytes: Uint8Array}, for a Blob. Names are UTF-8; repeated ones get a number. */
export function zipped(files) {
  const parts = [];
  const directory = [];
  const names = new Set();
  let at = 0;
  for (const { name, bytes } of files) {
    let own = name;
    for (let number = 2; names.has(own); number += 1) own = `${number}/${name}`;
    names.add(own);
    const path = new TextEncoder().encode(own);
    const facts = [[20, 2], [0x800, 2], [0, 2], [0, 2], [0x21, 2], [crc32(bytes), 4], [bytes.length, 4], [bytes.length, 4], [path.length, 2], [0, 2]];
    const head = [...numbers([[0x04034b50, 4], ...facts]), ...path];
    directory.push(...numbers([[0x02014b50, 4], [20, 2], ...facts, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]]), ...path);
    parts.push(Uint8Array.from(head), bytes);
    at += head.length + bytes.length;
  }
  const end = numbers([[0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [directory.length, 4], [at, 4], [0, 2]]);
  return [...parts, Uint8Array.from(directory), Uint8Array.from(end)];
}

/** Numbers in so many bytes each, the lowest first. */
const numbers = (fields) => fields.flatMap(([value, size]) => Array.from({ length: size }, (_, byte) => (value >>> (8 * byte)) & 0xff));
