/**
 * Check of form targets against the content security policy of a page (CSP Level 3, section 6.4.1), by
 * which sites with content of members restrict their forms. A source that is not understood allows nothing.
 */

/** Number of sources of a policy that are read; those behind them allow nothing. */
const sourcesMax = 500

/** Returns whether every policy, as headers and pages state it, allows a form target. */
export function formTargets(policies: readonly string[], page: URL): (action: string) => boolean {
  const all = policies.flatMap((text) => text.split(',')).flatMap((one) => formSources(one) ?? [])
  return (action) => {
    if (!URL.canParse(action)) return false
    const to = new URL(action)
    return all.every((sources) => sources.some((one) => allows(one, page, to)))
  }
}

/** Returns the sources of `form-action`, if the policy has it; the first of several directives counts. */
function formSources(policy: string): [string[]] | undefined {
  const directives = policy.split(';').map((directive) => directive.trim().split(/\s+/))
  const found = directives.find(([name]) => name?.toLowerCase() === 'form-action')
  return found && [[...new Set(found.slice(1))].slice(0, sourcesMax)]
}

/** True if a source matches (CSP Level 3, section 6.7.2.8); nonces and hashes do not apply to forms. */
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

/** True if the schemes match, or the site has moved from http to https. */
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
