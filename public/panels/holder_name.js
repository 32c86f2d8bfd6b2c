// The name of a holder, with its login if there are several logins.

import { make, setText } from '../app/dom.js';
import { nameParts } from '../app/names.js';

/**
 * @param {import('../app/types.js').Model} model
 * @param {string} holder
 * @param {string} [className]
 */
export function holderName(model, holder, className = 'agent-name') {
  const name = make('span', {});
  const login = make('span', { class: 'agent-user' });
  const node = make('strong', { class: className, title: holder }, name, login);
  const update = () => {
    const parts = nameParts(model.state, holder);
    setText(name, parts.name);
    setText(login, parts.login && ` ${parts.login}`);
  };
  update();
  return { node, update };
}
