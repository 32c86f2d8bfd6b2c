import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));

// Chromium without windows takes three quarters of the processor time.
const WITHOUT_WINDOWS = '/usr/bin/chromium-headless-shell';

export const LAUNCH = {
  executablePath: process.env.CHROMIUM_BIN ?? (existsSync(WITHOUT_WINDOWS) ? WITHOUT_WINDOWS : '/usr/bin/chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
