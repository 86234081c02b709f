/** Texts with a meaning to the product, and texts that have broken other software. */

const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** Base Sepolia's USDC, as Circle publishes it. */
const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const offer = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: usdc,
  amount: '10000',
  payTo: payee,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}
const sites = [
  'https://www.example.com',
  'www.example.com',
  'https://login.example.com:443/',
  'github.io',
]
const amounts = [
  '0.01',
  '1',
  '5',
  '0',
  '250',
  '0.0000001',
  '999999999999999999',
  '1.000000000000000001',
]
const resources = ['/paid', '/free', '/broken', '/moved', '/text', '/lies'].map(
  (path) => `https://merchant.example.com${path}`,
)

/** Meaningful values by the name of a field. */
export const meaningful: Readonly<Record<string, readonly unknown[]>> = {
  alias: ['free-name', 'admin', 'Ünïcode', 'a', '-a-', 'xn--a', 'a'.repeat(32), 'a'.repeat(33)],
  recipient: [
    payee,
    payee.toLowerCase(),
    'free-name',
    'a@agents.example',
    `0x${'0'.repeat(40)}`,
    usdc,
  ],
  chain: ['base-sepolia', 'eip155:84532', 'base', 'eip155:8453', 'solana', 'eip155:0', 'nowhere'],
  chains: [['base-sepolia'], ['eip155:84532', 'base'], ['nowhere']],
  token: ['USDC', 'usdc', usdc, 'EURC', 'ETH', 'nothing'],
  tokens: [['USDC'], ['EURC', usdc], ['nothing']],
  amount: amounts,
  max_amount_per_payment_usd: amounts,
  max_amount_per_day_usd: amounts,
  max_total_usd: amounts,
  ttl_seconds: [60, 61, 900, 3600, 86_400, 7_776_000],
  merchant_domain: [
    'merchant.example.com',
    'www.example.com',
    'github.io',
    'EXAMPLE.com.',
    '127.0.0.1',
  ],
  pay_to: [[payee], [payee, usdc], ['0x0']],
  site: sites,
  username: ['me', 'someone@example.com', ''],
  password: ['a password of the tests', 'p'],
  totp_secret: [
    'JBSWY3DPEHPK3PXP',
    'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer=a',
    'not base32!',
    null,
  ],
  email: ['someone@example.com', 'other@example.com', 'a@b.co'],
  to: [['someone@example.com'], ['a@b.co', 'c@d.co'], ['free-name@agents.example']],
  from: ['example.com', 'someone@example.com', '@example.com'],
  code: ['123456', '000000'],
  timeout_seconds: ['0', '0', '0', '1', '25'],
  resource_url: [
    ...resources,
    'http://merchant.example.com/paid',
    'https://10.0.0.1/',
    'https://a/',
  ],
  return_url: ['https://shop.example/back', 'https://elsewhere.example/', 'javascript:alert(1)'],
  x402Version: [1, 2, 3, '2'],
  accepts: [
    [offer],
    [{ ...offer, amount: '-1' }],
    [],
    [null],
    [offer, { ...offer, network: 'base' }],
  ],
  limit: ['1', '5', '50'],
  path: ['/login', '/', '/a?b=c', '//evil.example', '/../..', 'login'],
  body: ['{"a":1}', 'a=b', ''],
  inject: [
    [{ where: 'form_field', name: 'password', secret: 'password' }],
    [{ where: 'header', name: 'authorization', secret: 'password', prefix: 'Bearer ' }],
    [{ where: 'nowhere' }],
  ],
}

/** Two surrogates, each without its other half. */
const loneSurrogates = ['\ud800', '\udfff']

export const hostileTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nX-Injected: 1',
  '\u202eabc\u202c',
  '\ufeff',
  ...loneSurrogates,
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  'Z\u0351\u036b\u0343'.repeat(40),
  'İıſK',
  "' or '1'='1",
  '"; drop table private.accounts; --',
  '${7*7}{{7*7}}',
  '%00%0a%2e%2e%2f',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '=cmd|calc!A1',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-0',
  '1e999',
  '9'.repeat(400),
  '0x',
  '00000000-0000-0000-0000-000000000000',
  'a'.repeat(5_000),
  '\u{10ffff}'.repeat(300),
] as const
