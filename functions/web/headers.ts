import type { MiddlewareHandler } from 'hono'
import type { WebEnv } from './visit.ts'

type Allowed = {
  /** The one origin besides ours that the page may connect to. */
  reaches: string | undefined
  /** Origin whose script and frame the page may load. */
  embeds: string | undefined
  /** True for the page that registers the service worker (client/notifications.ts). */
  loadsWorker: boolean | undefined
}

/** Returns the policy of a page. */
function contentSecurityPolicy({ reaches, embeds, loadsWorker = false }: Allowed): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", embeds].filter(Boolean).join(' '),
    ...(embeds === undefined ? [] : [`frame-src ${embeds}`]),
    "style-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "worker-src 'self'",
    ["connect-src 'self'", reaches].filter(Boolean).join(' '),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // A script of somebody else writes into the document in its own way.
    ...(embeds === undefined ? trustedTypes(loadsWorker) : []),
  ].join('; ')
}

function trustedTypes(loadsWorker: boolean): string[] {
  return [
    "require-trusted-types-for 'script'",
    `trusted-types ${loadsWorker ? 'worker' : "'none'"}`,
  ]
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
  // With `no-referrer` a browser would send our own forms without an origin.
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

/** Sets the headers of every answer. Pages show money: they must not be cached by default, nor framed. */
export const pageHeaders: MiddlewareHandler<WebEnv> = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(fixed)) c.header(name, value)
  const relay = c.get('walletRelay')
  const reaches = relay && new URL(relay.url).origin
  const [embeds, loadsWorker] = [c.get('challengeOrigin'), c.get('loadsWorker')]
  c.header('content-security-policy', contentSecurityPolicy({ reaches, embeds, loadsWorker }))
  c.header('x-request-id', c.get('requestId'))
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store')
}
