// Twelve agents of one login in a repository of a few hundred files.

import { addressOf } from './browser.mjs';
import { addCleanup } from './cleanup.mjs';
import { generatedFiles } from './repositories.mjs';
import { serveRepository } from './served_repository.mjs';
import { UNLIMITED } from './server.mjs';

const NAMES = ['amy', 'ben', 'cat', 'dan', 'eve', 'fay', 'gus', 'hal', 'ivy', 'jon', 'kim', 'lea'];
const WORK = ['Moving the login to passkeys', 'Search by several words at once, with the words in any order', 'A pool of connections', 'Translations of the checkout', 'Rounding to cents', 'Limits of the API'];

/**
 * Nine write, one reads, and two wait for what dan has.
 * @param {import('node:test').TestContext} t
 * @returns {Promise<string>} The address of the page.
 */
export async function crowdedRepository(t) {
  const files = generatedFiles(400);
  const { repository, server, agent } = await serveRepository(t, { files, name: 'acme/crowd', env: UNLIMITED });
  const paths = Object.keys(files).filter((path) => path.endsWith('.ts'));
  /** @type {Map<string, string[]>} */
  const pathsByAgent = new Map();
  for (const [index, name] of NAMES.slice(0, 10).entries()) {
    const wanted = index === 0 ? 5 : 1 + (index % 3);
    for (let place = (index * 37) % paths.length, tries = 0; (pathsByAgent.get(name)?.length ?? 0) < wanted && tries < 60; place = (place + 1) % paths.length, tries += 1) {
      const path = paths[place];
      const { status } = await (index === 9 ? agent('ada', name).read(path, 'Reading how it is done') : agent('ada', name).write(path, WORK[index % WORK.length]));
      if (status === 200) pathsByAgent.set(name, [...(pathsByAgent.get(name) ?? []), path]);
    }
  }
  const [wanted] = pathsByAgent.get('dan') ?? [];
  const repeatClaims = () => Promise.all([agent('ada', 'kim').write(wanted, 'Plural forms in the same file'), agent('ada', 'lea').write(wanted, 'Dates as people write them')]);
  await repeatClaims();
  // A place in the queue lasts only while its claim is repeated.
  const timer = setInterval(() => repeatClaims().catch(() => {}), 8000);
  addCleanup(t, () => clearInterval(timer));
  return addressOf(server, repository);
}
