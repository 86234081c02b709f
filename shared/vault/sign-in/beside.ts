/**
 * Texts of an agent in a session at a site: what it said there. A site can write any text of the agent into any page, in any form,
 * and some sites connect to a server or a tenant that a page names. So a secret is filled in unasked only where
 * the agent has said nothing yet: it opened a page by a path of nothing but words for signing in, and the
 * service sent all forms, with the user name or a secret. What was said otherwise is part of the place that the
 * owner approves, word for word.
 */
import type { Control, PageForm } from './page-forms.ts'

/** Number of characters to remember: with more, a place is too long to approve, and so no secret is sent. */
const saidCharactersMax = 5_000

/** Returns what was said in a session with the new texts. */
export function addSaid(said: readonly string[], texts: readonly string[]): string[] {
  const room = saidCharactersMax - said.join('').length
  return room <= 0 ? [...said] : [...said, ...texts.map((text) => text.slice(0, room))]
}

/** Returns what opening a page says: nothing if its address consists of words for signing in alone. */
export function saidByPage({ pathname, search }: URL): string[] {
  const isPlain = search === '' && pathname.split('/').every((part) => plainWords.has(part))
  return isPlain ? [] : [`GET ${pathname}${search}`]
}

/**
 * Returns what sending a form says: the fields that the agent set, other than boxes to tick, and the form itself
 * if the service filled in nothing.
 */
export function saidByForm(
  { action, controls }: PageForm,
  fields: Readonly<Record<string, string>>,
  isServices: boolean,
): string[] {
  const isBox = (name: string) =>
    controls.filter((one) => one.name === name).every(({ type }) => type === 'checkbox')
  const set = Object.entries(fields)
    .filter(([name]) => !isBox(name))
    .map(([name, value]) => `${name}=${value}`)
  return isServices ? set : [`form ${new URL(action).pathname}`, ...set]
}

/** Words beside a secret in a form: what the agent said, and the names of the other fields. */
export type Beside = { agent?: readonly string[]; fields: readonly string[] }

/** Returns what stands beside a secret in a form. */
export function besideIn(
  { controls }: PageForm,
  filled: readonly Control[],
  said: readonly string[],
): Beside {
  const others = controls.filter(
    (control) => !filled.includes(control) && control.type !== 'submit',
  )
  // At some sites, anti-forgery tokens are names of fields.
  const fields = [...new Set(others.map(({ name }) => name.replaceAll(/[0-9a-f]{16,}/gi, '*')))]
  return { ...(said.length > 0 && { agent: said }), fields }
}

/** Parts of a path that name no member, tenant or server. */
const plainWords: ReadonlySet<string> = new Set(
  (
    ' login log-in log_in logon signin sign-in sign_in session sessions new user users account ' +
    'accounts auth password wp-login.php login.php signin.php index.php login.html'
  ).split(' '),
)
