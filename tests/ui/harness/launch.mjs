import { fileURLToPath } from 'node:url';

export const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));

export const LAUNCH = {
  executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
