/** Pages as a thief visits them, and their forms as it sends them. */
import type { Browser, Shown, ShownForm } from '../browserless.ts'
import { formsIn, ownForm } from '../browserless.ts'
import type { Dice } from '../model/dice.ts'
import type { Home } from './home.ts'
import type { Thief } from './thief.ts'
import { hear } from './thief.ts'

/** Returns every page that shows or changes something of the account. */
export function pagesOf({ ids, friend }: Home, thief: string): string[] {
  return [
    '/web',
    '/web/activity',
    '/web/activity.csv',
    '/web/approvals',
    `/web/approve/${ids.waiting}`,
    `/web/approve/${ids.approved}`,
    '/web/mandates',
    `/web/mandate/${ids.mandate}`,
    `/web/mandate/${ids.askedMandate}`,
    '/web/limits',
    '/web/keys',
    ...ids.keys.map((key) => `/web/keys/${key}`),
    '/web/apps',
    ...ids.apps.map((app) => `/web/apps/${app}`),
    '/web/recipients',
    `/web/recipients/add/${thief}`,
    `/web/recipients/add/${friend}`,
    '/web/freeze',
    '/web/security',
    '/web/security/password',
    '/web/security/passkeys',
    '/web/security/recovery-codes',
    '/web/security/sessions',
    '/web/not-me?since=2026-01-01',
    '/web/vault',
    '/web/vault/new',
    `/web/vault/${ids.entry}`,
    `/web/vault/${ids.entry}/destinations`,
    '/web/mail',
    `/web/mail/${ids.mail}`,
    '/web/deposit',
  ]
}

const typed: Record<string, string> = {
  label: 'Mine',
  password: 'of a thief, long enough',
  site: 'https://www.evil.com',
  username: 'me',
  sure: 'yes',
  days: '30',
}
const usd = ['90000', '0', '5']

/** Visits a page and sends one of its forms, filled in as an attacker would. */
export async function sendForm(
  thief: Thief,
  browser: Browser,
  path: string,
  dice: Dice,
): Promise<Shown> {
  const page = await browser.visit(path)
  hear(thief, path, page)
  const forms = choicesIn(page.html).filter(({ target }) => !isOver(target))
  const form = dice.anyOf(forms)
  if (!form || page.path.startsWith('/web/login')) return page
  const answer = await post(browser, form.target, filledIn(form, dice))
  hear(thief, form.target, answer)
  return answer
}

/** Sends a form with the browser's own token, without following a redirect. */
export async function post(
  browser: Browser,
  target: string,
  fields: Record<string, string>,
): Promise<Shown> {
  const body = new URLSearchParams({ form: ownForm(browser), ...fields }).toString()
  const headers = {
    origin: 'http://localhost',
    'content-type': 'application/x-www-form-urlencoded',
  }
  return browser.send(target, { method: 'POST', body, headers })
}

/** True for forms that leave or replace the session, after which the thief would hold less. */
const isOver = (target: string) => /\/(logout|login|join|register)\b/.test(target)

type Choosing = ShownForm & { choices: [name: string, value: string][] }

/** Returns the forms of a page with everything that can be ticked, chosen or pressed in them. */
function choicesIn(html: string): Choosing[] {
  const bodies = [...html.matchAll(/<form\b[^>]*>(.*?)<\/form>/gs)].map(([, body = '']) => body)
  return formsIn(html).map((form, at) => {
    const inputs = [...(bodies[at] ?? '').matchAll(/<(?:input|button|option)\b([^>]*)>/g)]
    const choices = inputs.flatMap(([, head = '']): [string, string][] => {
      const [, name] = /\bname="([^"]*)"/.exec(head) ?? []
      const [, value = 'yes'] = /\bvalue="([^"]*)"/.exec(head) ?? []
      const isText = /type="(text|password|hidden|email|number)"/.test(head)
      return name === undefined || isText ? [] : [[name, value]]
    })
    return { ...form, choices }
  })
}

function filledIn({ given, choices }: Choosing, dice: Dice): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const isMoney = name.startsWith('usd')
    fields[name] = isMoney ? (dice.anyOf(usd) ?? '') : value || (typed[name] ?? '')
  }
  for (const [name, value] of choices) if (dice.isLucky(50)) fields[name] = value
  const pressed = dice.anyOf(choices)
  return pressed ? { ...fields, [pressed[0]]: pressed[1] } : fields
}
