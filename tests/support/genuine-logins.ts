/** Sign-ins as real sites build them: forms, two steps, codes, anti-forgery tokens. */
import type { LoginPages } from './login-site.ts'

/** One sign-in: its pages, and the kind of code. */
export type GenuineLogin = {
  name: string
  pages: LoginPages
  code?: 'totp' | 'mail'
}

const plain = (fields: string, more = '') =>
  `<form method="post" action="/login" ${more}>${fields}<button>Sign in</button></form>`
const password = (name: string, more = '') => `<input type="password" name="${name}" ${more}>`
const text = (name: string, more = '') => `<input name="${name}" ${more}>`

/** Returns a login form with the usual field names and a variation in its HTML. */
function written(name: string, login: string, more: Partial<LoginPages> = {}): GenuineLogin {
  return { name, pages: { login, ...more } }
}

const usual = `{csrf}${text('username')}${password('password')}`

const ofWritings: readonly GenuineLogin[] = [
  written('a form that names no token', plain(text('username') + password('password'))),
  written(
    'a form without quotes',
    '<form method=post action=/login>{csrf}<input name=username><input type=password name=password><input type=submit></form>',
  ),
  written(
    'a form in capitals',
    `<FORM METHOD="POST" ACTION="/login">{csrf}<INPUT NAME="username"><INPUT TYPE="PASSWORD" NAME="password"></FORM>`,
  ),
  written(
    'an address relative to the page',
    usual && `<form method="post" action="login?from=page">${usual}</form>`,
  ),
  written(
    'an address relative to a base',
    `<base href="/a/b/"><form method="post" action="../../login">${usual}</form>`,
  ),
  written('no address at all', `<form method="post">${usual}</form>`),
  written(
    'fields outside of the form',
    `<form id="f" method="post" action="/login"></form>{csrf}${text('username', 'form="f"')}${password('password', 'form="f"')}`.replace(
      '{csrf}',
      '',
    ),
  ),
  written('a search before it', `<form action="/search">${text('q')}</form>${plain(usual)}`),
  written(
    'a language to choose',
    plain(`${usual}<select name="lang"><option value="en" selected>English</select>`),
  ),
  written(
    'a box to remember',
    plain(`${usual}<input type="checkbox" name="remember" value="1" checked>`),
  ),
  written(
    'named buttons',
    plain(
      `${usual}<button name="action" value="in">In</button><button name="action" value="no">Cancel</button>`,
    ),
  ),
  written(
    'an address that holds a session',
    `<form method="post" action="/login;jsessionid=1A2B">${usual}</form>`,
  ),
  written('a redirect by 303', plain(usual), { status: 303 }),
  written('a redirect by 301', plain(usual), { status: 301 }),
  {
    name: 'a field of its own name',
    pages: {
      login: plain(`{csrf}${text('username')}${password('geheim_1')}`),
      password: 'geheim_1',
    },
  },
]

const next = (fields: string) => `<form method="post" action="/next">{csrf}${fields}</form>`
const identifier = plain(`{csrf}${text('username', 'autocomplete="username"')}`)

const ofSteps: readonly GenuineLogin[] = [
  written('two pages', identifier, { next: next(password('password')) }),
  written('two pages, the name shown again', identifier, {
    next: next(`${text('username', 'readonly')}${password('password')}`),
  }),
  written('two pages, by mail address', plain(`{csrf}<input type="email" name="identifier">`), {
    user: 'identifier',
    next: next(password('password')),
  }),
]

const code = (name: string, more = '') => ({
  name,
  form: `<form method="post" action="/code">{csrf}${text(name, more)}<button>Go on</button></form>`,
})

/** Returns a login with a second factor. */
function second(name: string, kind: 'totp' | 'mail', asked: LoginPages['code']): GenuineLogin {
  if (!asked) throw new Error('no code is asked for')
  return { name, pages: { login: plain(usual), code: asked }, code: kind }
}

const ofCodes: readonly GenuineLogin[] = [
  second('a code of an app', 'totp', code('otp')),
  second('a code of an app in a marked field', 'totp', code('otp', 'autocomplete="one-time-code"')),
  second('a code of Devise', 'totp', code('user[otp_attempt]', 'autocomplete="one-time-code"')),
  second('a code of a field named totp', 'totp', code('totp_code')),
  second('a code by mail', 'mail', code('verification_code')),
  second(
    'a code by mail in a marked field',
    'mail',
    code('security_code', 'autocomplete="one-time-code"'),
  ),
  second('a code in a field of type number', 'mail', code('mfaCode', 'type="number"')),
  {
    name: 'two pages and a code of an app',
    pages: { login: identifier, next: next(password('password')), code: code('otp') },
    code: 'totp',
  },
  {
    name: 'two pages and a code by mail',
    pages: { login: identifier, next: next(password('password')), code: code('otp') },
    code: 'mail',
  },
]

/** All sign-ins. */
export const genuineLogins = [...ofWritings, ...ofSteps, ...ofCodes]
