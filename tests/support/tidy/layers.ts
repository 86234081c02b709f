/** The rules for which part of the product may import which, as in shared/README.md. */

/** Layers from left to right; a part imports from its own layer and those to its right. */
const layers = [
  ['functions'],
  [
    'http',
    'payments',
    'mandates',
    'yield',
    'hosted',
    'onboarding',
    'oauth',
    'mcp',
    'x402',
    'auth',
    'health',
    'remote',
    'webhooks',
  ],
  ['world.ts', 'kms.ts', 'custody', 'chains', 'vault', 'mailbox', 'mail', 'db', 'egress'],
  ['policy', 'contract', 'consent'],
  ['money', 'sealing', 'text', 'env.ts', 'base64.ts', 'digest.ts'],
]

/** Packages and where they may be imported; a package that is not listed may not be imported anywhere. */
const vendors: readonly [RegExp, RegExp][] = [
  [/^zod$/, /./],
  [/^@noble\/hashes\//, /^shared\//],
  [/^@scure\/base$/, /^shared\/(base64|digest)\.ts$/],
  [/^(hono|@hono)(\/|$)/, /^(shared\/http|functions\/(web|discovery|oauth|mcp))\//],
  [/^@supabase\//, /^shared\/db\//],
  [/^viem(\/|$)/, /^shared\/(chains|custody|x402)\//],
  [/^@simplewebauthn\/server$/, /^shared\/auth\//],
  [/^jose(\/|$)/, /^shared\/(auth|oauth|consent|remote)\/|^shared\/kms\.ts$/],
  [/^aws4fetch$/, /^shared\/kms\.ts$/],
  [/^@noble\/ciphers\//, /^(shared\/(sealing|vault|custody)|functions\/web\/client\/wallet)\//],
  [/^cloudflare:workers$/, /^functions\/(custody|mailer|vault)\//],
  [/^cloudflare:sockets$/, /^functions\/mailer\//],
  [/^@modelcontextprotocol\/server(\/|$)/, /^(functions\/mcp|shared\/mcp)\//],
  [/^uqr$/, /^functions\/web\//],
  [/^tldts(\/|$)/, /^shared\/(mandates|mailbox)\//],
  [/^punycode(\/|$)/, /^shared\/mandates\//],
  [/^postal-mime$/, /^shared\/mailbox\//],
  [/^htmlparser2$/, /^shared\/(vault|mailbox)\//],
  [/^(canonicalize|@levischuck\/tiny-cbor)$/, /^shared\/consent\//],
]

/** Decides whether a file may import another. */
export function pointsRight(from: string, to: string): boolean {
  if (from.startsWith('functions/') && to.startsWith('functions/')) {
    return [from, to].includes('functions/contracts.ts') || folderOf(from) === folderOf(to)
  }
  return layerOf(from) <= layerOf(to)
}

/** Decides whether a file may import a package. */
export function isConfined(name: string, from: string): boolean {
  return vendors.some(([vendor, home]) => vendor.test(name) && home.test(from))
}

function folderOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function layerOf(path: string): number {
  const part = path.startsWith('functions/') ? 'functions' : folderOf(path)
  const layer = layers.findIndex((parts) => parts.includes(part))
  if (layer === -1) throw new Error(`${path} belongs to no layer: name it in layers.ts`)
  return layer
}
