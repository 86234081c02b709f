/** The secret part of a login, as forms of ours carry it. An empty field says nothing. */
import type { LoginByLink } from '../../../shared/vault/login-link-port.ts'

export function secretIn(form: URLSearchParams): LoginByLink['secret'] {
  const password = form.get('password') ?? ''
  const totp_secret = (form.get('totp_secret') ?? '').trim()
  return {
    ...(password === '' ? {} : { password }),
    ...(totp_secret === '' ? {} : { totp_secret }),
  }
}
