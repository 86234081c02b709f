/**
 * Purpose of a form, by where it leads: the site controls the path of its address, whatever a member wrote
 * around it. A form that does not sign in can have a password field by any name, and the site may store or
 * publish what it receives there.
 */
import type { PageForm } from './page-forms.ts'

/** True if the form leads to where the site signs in. */
export function leadsToSignIn(form: PageForm): boolean {
  return signIn.test(pathOf(form)) && !isForOther(form)
}

/** True if the address or name of the form says that it has another purpose. */
export function isForOther(form: PageForm): boolean {
  return other.test(pathOf(form)) || other.test(form.called)
}

function pathOf({ action }: PageForm): string {
  return URL.canParse(action) ? new URL(action).pathname.slice(0, 512) : ''
}

/** Pattern of a path, or of words in it: `/users/sign_in`, `/wp-login.php`, `/doLogin`, `/session`. */
const signIn =
  /(^|[^a-z])(do|user|member|account|customer|admin|perform|process)?[-_]?(log[-_]?[io]n|sign[-_]?[io]n|sessions?|auth|authn|authenticate|authentication|sso|j_(spring_)?security_check)([^a-z]|$)/i
const other =
  /regist|sign[-_]?up|join|reset|recover|forgot|invit|share|comment|hook|profile|setting|create|wiki|note/i
