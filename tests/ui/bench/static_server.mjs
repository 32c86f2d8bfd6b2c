// The folder `public/` of the working copy, and the measuring pages, over HTTP on a port of its own.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PUBLIC = fileURLToPath(new URL('../../../public/', import.meta.url));
const TYPES = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.json': 'application/json' };
const PAGE = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Map</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style/tokens.css">
<link rel="stylesheet" href="/style/map.css"><link rel="stylesheet" href="/bench/map_page.css">
<div id="map"></div><script type="module" src="/bench/map_page.js"></script>
`;

/** @returns {Promise<{ url: string, close(): void }>} */
export async function startStaticServer() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (path === '/') {
      response.setHeader('content-type', 'text/html').end(PAGE);
      return;
    }
    const file = path.startsWith('/bench/') ? join(HERE, path.slice('/bench/'.length)) : join(PUBLIC, path);
    const status = await stat(file).catch(() => null);
    if (!status?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', TYPES[/** @type {keyof typeof TYPES} */ (extname(file))] ?? 'application/octet-stream');
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
