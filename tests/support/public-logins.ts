/** Sign-in pages as public products serve them, shortened to what a browser sends. */
import type { GenuineLogin } from './genuine-logins.ts'
import type { LoginPages } from './login-site.ts'

type Names = Partial<Pick<LoginPages, 'user' | 'password' | 'code' | 'next'>>

/** Returns a sign-in whose form leads to `action`, a path of its own. */
function product(name: string, action: string, fields: string, names: Names = {}): GenuineLogin {
  const login = `<form method="post" action="${action}">{csrf}${fields}</form>`
  const path = new URL(action, 'http://site/login').pathname
  return { name, pages: { login, action: path, ...names }, ...(names.code && { code: 'totp' }) }
}

const hidden = (name: string, value = '') => `<input type="hidden" name="${name}" value="${value}">`
const text = (name: string, more = '') => `<input type="text" name="${name}" ${more}>`
const secret = (name: string, more = '') => `<input type="password" name="${name}" ${more}>`
const box = (name: string, value = '1') => `<input type="checkbox" name="${name}" value="${value}">`
const usual = text('username') + secret('password')

const codePage = (fields: string, name: string) => ({
  form: `<form method="post" action="/code">{csrf}${fields}<button>Verify</button></form>`,
  name,
})

/** Products with the password on the first page. */
const onOnePage: readonly GenuineLogin[] = [
  product(
    'GitHub',
    '/session',
    `${text('login', 'autocomplete="username"')}${secret('pw', 'autocomplete="current-password"')}
     ${text('required_field_5b12', 'hidden="hidden"')}${hidden('timestamp', '1764000000')}
     <input type="submit" name="commit" value="Sign in">`,
    { user: 'login', password: 'pw' },
  ),
  product(
    'GitLab',
    '/users/sign_in',
    `${text('user[login]', 'autocomplete="username"')}${secret('user[password]')}
     ${hidden('user[remember_me]', '0')}${box('user[remember_me]')}<button>Sign in</button>`,
    { user: 'user[login]', password: 'user[password]' },
  ),
  product('Django admin', '/admin/login/?next=/admin/', `${usual}${hidden('next', '/admin/')}`),
  product(
    'WordPress',
    '/wp-login.php',
    `${text('log', 'autocapitalize="off"')}${secret('pwd', 'spellcheck="false"')}${box('rememberme', 'forever')}
     <input type="submit" name="wp-submit" value="Log In">${hidden('redirect_to', '/wp-admin/')}${hidden('testcookie', '1')}`,
    { user: 'log', password: 'pwd' },
  ),
  product(
    'Keycloak',
    '/realms/acme/login-actions/authenticate?session_code=8fJ2kQ&execution=1b2c-3d&client_id=shop&tab_id=Zx9',
    `${usual}${hidden('credentialId')}${box('rememberMe', 'on')}<input name="login" type="submit" value="Sign In">`,
  ),
  product(
    'Auth0',
    '/u/login?state=hKFo2SBq',
    `${hidden('state', 'hKFo2SBq')}${text('username', 'inputmode="email" autocomplete="email"')}
     ${secret('password', 'autocomplete="current-password"')}<button name="action" value="default">Continue</button>
     <button name="action" value="no" formnovalidate>Other</button>`,
  ),
  product(
    'MediaWiki',
    '/index.php?title=Special:UserLogin&returnto=Main+Page',
    `${text('wpName', 'autocomplete="username"')}${secret('wpPassword')}${box('wpRemember')}
     <button name="wploginattempt" value="Log in">Log in</button>${hidden('wpEditToken', '+')}${hidden('authAction', 'login')}`,
    { user: 'wpName', password: 'wpPassword' },
  ),
  product(
    'phpMyAdmin',
    '/index.php?route=/',
    `${hidden('set_session', 'r4nd0m')}${text('pma_username', 'autocomplete="username"')}
     ${secret('pma_password')}${hidden('server', '1')}<input type="submit" value="Log in">`,
    { user: 'pma_username', password: 'pma_password' },
  ),
  product('Moodle', '/login/index.php', `${hidden('anchor')}${usual}${hidden('logintoken', 'a1')}`),
  product(
    'Jira',
    '/login.jsp',
    `${text('os_username')}${secret('os_password')}${box('os_cookie', 'true')}${hidden('os_destination')}
     <input name="login" type="submit" value="Log In">`,
    { user: 'os_username', password: 'os_password' },
  ),
  product(
    'Nextcloud',
    '/index.php/login',
    `${hidden('redirect_url')}${text('user', 'autocomplete="username"')}${secret('password')}${hidden('timezone')}`,
    { user: 'user' },
  ),
  product(
    'Gitea',
    '/user/login',
    `${text('user_name')}${secret('password')}${box('remember', 'on')}`,
    {
      user: 'user_name',
    },
  ),
  product(
    'Roundcube',
    './?_task=login',
    `${hidden('_task', 'login')}${hidden('_action', 'login')}${text('_user')}${secret('_pass')}`,
    { user: '_user', password: '_pass' },
  ),
  product(
    'Shibboleth',
    '/idp/profile/SAML2/Redirect/SSO?execution=e1s1',
    `${text('j_username')}${secret('j_password')}${box('donotcache')}<button name="_eventId_proceed" value="">Login</button>`,
    { user: 'j_username', password: 'j_password' },
  ),
  product(
    'ASP.NET WebForms',
    './login.aspx',
    `${hidden('__VIEWSTATE', 'dDwtMTI7')}${hidden('__EVENTVALIDATION', 'x')}${text('ctl00$Main$Login1$UserName')}
     ${secret('ctl00$Main$Login1$Password')}<input type="submit" name="ctl00$Main$Login1$Button" value="Log In">`,
    { user: 'ctl00$Main$Login1$UserName', password: 'ctl00$Main$Login1$Password' },
  ),
  product(
    'Rails and Devise',
    '/users/sign_in',
    `${text('user[email]')}${secret('user[password]')}`,
    {
      user: 'user[email]',
      password: 'user[password]',
    },
  ),
  product(
    'a honeypot for a name',
    '/in',
    `${usual}${text('email', 'tabindex="-1" style="position:absolute; left:-5000px"')}`,
  ),
  product(
    'a honeypot before the name',
    '/in',
    `${text('website', 'autocomplete="off" aria-hidden="true"')}${usual}`,
  ),
  product(
    'a hidden decoy before the password',
    '/in',
    `${text('username')}${secret('fakepassword', 'style="display:none"')}${secret('password')}`,
  ),
  product(
    'a decoy that a style sheet hides',
    '/in',
    `${text('username')}${secret('fakepassword', 'class="off"')}${secret('password')}`,
  ),
  product(
    'a new password that is none',
    '/in',
    `${text('username')}${secret('password', 'autocomplete="new-password"')}`,
  ),
]

const googleName = `<input type="email" name="identifier" autocomplete="username webauthn">
  ${secret('hiddenPassword', 'aria-hidden="true" tabindex="-1"')}`
const microsoftNext = `<form method="post" action="/next">{csrf}${hidden('type', '11')}
  ${text('loginfmt', 'readonly value="ada@mail.example"')}${secret('passwd')}</form>`

/** Products that ask for more than a password on one page. */
const onMorePages: readonly GenuineLogin[] = [
  product('a two-step sign-in like Google’s', '/v3/signin', googleName, {
    user: 'identifier',
    password: 'Passwd',
    next: `<form method="post" action="/next">{csrf}${secret('Passwd')}</form>`,
  }),
  product('a two-step sign-in like Microsoft’s', '/common/login', text('loginfmt'), {
    user: 'loginfmt',
    password: 'passwd',
    next: microsoftNext,
  }),
  product('GitHub with TOTP', '/session', usual, {
    code: codePage(text('app_otp', 'autocomplete="one-time-code" inputmode="numeric"'), 'app_otp'),
  }),
  product('Google’s TOTP', '/in', usual, {
    code: codePage('<input type="tel" name="totpPin" pattern="[0-9 ]*">', 'totpPin'),
  }),
  product('Keycloak’s TOTP', '/in', usual, {
    code: codePage(
      `${text('otp', 'autocomplete="off"')}<input name="login" type="submit" value="In">`,
      'otp',
    ),
  }),
  product('a box to trust this computer', '/in', usual, {
    code: codePage(`${text('code')}${box('trust')}`, 'code'),
  }),
  product('six boxes for digits', '/in', usual, {
    code: codePage(text('d[]', 'maxlength="1" inputmode="numeric"').repeat(6), 'd[]'),
  }),
]

/** All sign-ins of public kinds. */
export const publicLogins = [...onOnePage, ...onMorePages]
