/** A visitor's files: images, tables and ZIPs of them, read in the browser; and the ZIP of reduced copies that the server gets. */

export const MOST_IMAGES = 200;
const LARGEST = 8_000_000; // bytes of one image or table
const SIDE = 512; // pixels, the longer side of a copy
const ENTRIES = 4000; // of a ZIP's directory
const [END, ENTRY, LOCAL] = [0x06054b50, 0x02014b50, 0x04034b50];
const TYPES = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', jfif: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' };
const JUNK = /(^|\/)(__macosx|\.|thumbs\.db|desktop\.ini)/i;

const ending = (name) => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

/** A file's name as the server has it: composed letters and forward slashes. */
const plain = (name) => name.normalize('NFC').replaceAll('\\', '/');

/** What files hold: {images: Map of Blobs by name, tables: [{name, blob}], studies: [Blob], problems: [sentence]}. */
export async function collected(files) {
  const found = { images: new Map(), tables: [], studies: [], problems: [] };
  for (const file of files) {
    const name = plain(file.name);
    try {
      if (ending(name) !== 'zip') sort(found, name, file);
      else for (const [path, entry] of await entries(file)) sort(found, path, await entry());
    } catch (error) {
      found.problems.push(error instanceof TypeError || error instanceof RangeError ? `${name} is damaged or incomplete.` : error.message);
    }
  }
  return found;
}

function sort({ images, tables, studies, problems }, name, blob) {
  const kind = ending(name);
  if (!blob) problems.push(`${name} is encrypted, damaged or larger than 8 MB.`);
  else if (kind === 'json') studies.push(blob);
  else if (blob.size > LARGEST) problems.push(`${name} is larger than 8 MB. Save it smaller.`);
  else if (kind === 'csv' || kind === 'tsv') tables.push({ name, blob });
  else if (!TYPES[kind]) problems.push(`${name} is not a PNG, JPEG, WebP, GIF, CSV or ZIP.`);
  else if (images.size >= MOST_IMAGES && !images.has(name)) {
    const words = `Only the first ${MOST_IMAGES} images are taken.`;
    if (!problems.includes(words)) problems.push(words);
  } else images.set(name, blob.type ? blob : new Blob([blob], { type: TYPES[kind] }));
}

/** The files of a ZIP as [path, a function that unpacks it]. No declared size is trusted. Throws Error with a sentence. */
async function entries(zip) {
  const tail = new DataView(await zip.slice(Math.max(0, zip.size - 65_557)).arrayBuffer());
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== END) at -= 1;
  if (at < 0) throw new Error(`${zip.name} is not a ZIP, or is incomplete.`);
  const [count, size, start] = [tail.getUint16(at + 10, true), tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  if (count > ENTRIES || start === 0xffffffff) throw new Error(`${zip.name} lists more than ${ENTRIES} files. Split it.`);
  const directory = new DataView(await zip.slice(start, start + size).arrayBuffer());
  const found = [];
  for (let number = 0, from = 0; number < count; number += 1) {
    if (directory.getUint32(from, true) !== ENTRY) throw new RangeError('no entry');
    const [flags, method] = [directory.getUint16(from + 8, true), directory.getUint16(from + 10, true)];
    const [packed, name, extra, comment] = [directory.getUint32(from + 20, true), ...[28, 30, 32].map((offset) => directory.getUint16(from + offset, true))];
    const local = directory.getUint32(from + 42, true);
    const path = plain(new TextDecoder().decode(new Uint8Array(directory.buffer, from + 46, name)));
    from += 46 + name + extra + comment;
    if (path.endsWith('/') || JUNK.test(path)) continue;
    found.push([path, async () => {
      if (flags & 1 || ![0, 8].includes(method) || packed > LARGEST) return null;
      const head = new DataView(await zip.slice(local, local + 30).arrayBuffer());
      if (head.byteLength < 30 || head.getUint32(0, true) !== LOCAL) return null;
      const begin = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
      const content = zip.slice(begin, begin + packed);
      return method ? inflated(content).catch(() => null) : content;
    }]);
  }
  return found;
}

async function inflated(content) {
  const reader = content.stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    size += value.length;
    if (size > LARGEST) {
      reader.cancel();
      return null;
    }
    parts.push(value);
  }
}

/** A copy of an image on white, at most SIDE pixels large, as JPEG. Throws where the browser cannot read it. */
export async function reduced(blob) {
  const image = await createImageBitmap(blob);
  const scale = Math.min(1, SIDE / Math.max(image.width, image.height));
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: Math.max(1, Math.round(image.width * scale)), height: Math.max(1, Math.round(image.height * scale)) });
  const pen = canvas.getContext('2d');
  Object.assign(pen, { fillStyle: '#fff', imageSmoothingQuality: 'high' });
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  return new Promise((resolve, reject) => {
    canvas.toBlob((copy) => (copy ? resolve(copy) : reject(new Error('no copy'))), 'image/jpeg', 0.92);
  });
}

/** A ZIP of files, [{name, blob}], stored as they are. */
export async function zipped(files) {
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const { name, blob } of files) {
    const path = new TextEncoder().encode(name);
    const check = crc(new Uint8Array(await blob.arrayBuffer()));
    // Version, flags (names are UTF-8), method, time, date, check sum, sizes, and the lengths of name and extra field.
    const facts = [[20, 2], [0x800, 2], [0, 2], [0, 2], [0x21, 2], [check, 4], [blob.size, 4], [blob.size, 4], [path.length, 2], [0, 2]];
    parts.push(bytes([[LOCAL, 4], ...facts]), path, blob);
    directory.push(bytes([[ENTRY, 4], [20, 2], ...facts, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), path);
    offset += 30 + path.length + blob.size;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = bytes([[END, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/** Numbers of 2 or 4 bytes, the lowest byte first. */
const bytes = (numbers) => Uint8Array.from(numbers.flatMap(([value, width]) => Array.from({ length: width }, (_, at) => (value >>> (8 * at)) & 255)));

const TABLE = Uint32Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc(data) {
  let value = 0xffffffff;
  for (const byte of data) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
