/**
 * What a form is for, by where it leads: the path of its address is the site's own, whatever a member
 * wrote around it. A form that signs nobody in can have a field for a password by any name; where it is
 * sent, the site may keep or tell it.
 */
import type { PageForm } from './page-forms.ts'

/** Whether the site signs in where the form leads. */
export function leadsToSignIn(form: PageForm): boolean {
  return signIn.test(pathOf(form)) && !isForOther(form)
}

/** Whether address or name of the form say that it is for something else. */
export function isForOther(form: PageForm): boolean {
  return other.test(pathOf(form)) || other.test(form.called)
}

function pathOf({ action }: PageForm): string {
  return URL.canParse(action) ? new URL(action).pathname.slice(0, 512) : ''
}

/** A part of a path, or words in it: `/users/sign_in`, `/wp-login.php`, `/doLogin`, `/session`. */
const signIn =
  /(^|[^a-z])(do|user|member|account|customer|admin|perform|process)?[-_]?(log[-_]?[io]n|sign[-_]?[io]n|sessions?|auth|authn|authenticate|authentication|sso|j_(spring_)?security_check)([^a-z]|$)/i
const other =
  /regist|sign[-_]?up|join|reset|recover|forgot|invit|share|comment|hook|profile|setting|create|wiki|note/i
