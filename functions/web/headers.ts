import type { MiddlewareHandler } from 'hono'
import type { Frame } from './visit.ts'

/** `reaches` is the one origin beside ours that a page may speak to. */
function contentSecurityPolicy(reaches?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", reaches].filter(Boolean).join(' '),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const permissions = [
  'publickey-credentials-get=(self)',
  'publickey-credentials-create=(self)',
  'clipboard-write=(self)',
  ...['camera', 'geolocation', 'microphone', 'payment', 'usb'].map((name) => `${name}=()`),
].join(', ')

const fixed: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': permissions,
  // Not no-referrer: with it a browser names no origin when it sends our own forms.
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

/** Headers of everything the app sends. Pages hold money and are nobody's to cache or to frame. */
export const pageHeaders: MiddlewareHandler<Frame> = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(fixed)) c.header(name, value)
  const relay = c.get('walletRelay')
  c.header('content-security-policy', contentSecurityPolicy(relay && new URL(relay.url).origin))
  c.header('x-request-id', c.get('requestId'))
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store')
}
