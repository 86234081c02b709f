/**
 * Where the content security policy of a page lets its forms be sent (CSP Level 3, section 6.4.1). Sites
 * that show what members write say so by it; what is not understood allows nothing.
 */

/** Policies as headers and pages write them, each to be kept. */
export function isSentTo(policies: readonly string[], page: URL, action: string): boolean {
  if (!URL.canParse(action)) return false
  const to = new URL(action)
  return policies
    .flatMap((text) => text.split(','))
    .map(formSources)
    .every((sources) => sources === undefined || sources.some((one) => allows(one, page, to)))
}

/** Of several directives of one name the first counts. */
function formSources(policy: string): string[] | undefined {
  const directives = policy.split(';').map((directive) => directive.trim().split(/\s+/))
  const found = directives.find(([name]) => name?.toLowerCase() === 'form-action')
  return found?.slice(1)
}

/** CSP Level 3, section 6.7.2.8, without nonces and hashes, which are not for forms. */
function allows(source: string, page: URL, to: URL): boolean {
  if (source === '*') return /^https?:$/.test(to.protocol)
  if (source.toLowerCase() === "'self'") return to.origin === page.origin
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return isScheme(source.toLowerCase(), to)
  const parts = /^(?:([a-z][a-z0-9+.-]*:)\/\/)?([^/:]+)(?::([0-9]+|\*))?(\/.*)?$/i.exec(source)
  if (!parts) return false
  const [, scheme = page.protocol, host = '', port, path = ''] = parts
  return (
    isScheme(scheme.toLowerCase(), to) &&
    isHost(host.toLowerCase(), to.hostname) &&
    isPort(port, to) &&
    isPath(path, to.pathname)
  )
}

/** A site that moved from http to https is the same. */
function isScheme(scheme: string, { protocol }: URL): boolean {
  return protocol === scheme || (scheme === 'http:' && protocol === 'https:')
}

function isHost(host: string, to: string): boolean {
  return host.startsWith('*.') ? to.endsWith(host.slice(1)) : host === '*' || to === host
}

function isPort(port: string | undefined, { port: given, protocol }: URL): boolean {
  const usual = protocol === 'https:' ? '443' : '80'
  return port === '*' || (port ?? usual) === (given || usual)
}

function isPath(path: string, to: string): boolean {
  return path === '' || path === '/' || to === path || (path.endsWith('/') && to.startsWith(path))
}
