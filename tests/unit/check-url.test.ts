import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkUrl } from '../../shared/egress/safe-fetch.ts'

const production = { allowLoopback: false }
const local = { allowLoopback: true }

/** URLs by the reason for their refusal, separated by spaces. */
const refused = {
  'not https': `
    http://merchant.com/ http://merchant.com:443/ HTTP://merchant.com ftp://merchant.com/ ws://merchant.com/
    wss://merchant.com/ file:///etc/passwd file://merchant.com/etc data:text/plain,x javascript:fetch(1)
    blob:https://merchant.com/1 gopher://merchant.com/ ldap://merchant.com/ jar:https://merchant.com!/
    about:blank mailto:a@merchant.com chrome://settings view-source:https://merchant.com/ tel:1`,
  'cannot be parsed': `
    merchant.com merchant.com/path //merchant.com/ /path ?query https:// https://? https://[::1
    https://[v1.x]/ https://merchant.com:port/ https://merchant.com:65536/ https://merchant%00.com/
    https://mer<chant.com/ https://mer|chant.com/ https://256.256.256.256/ https://1.2.3.4.5/ https://0x100000000/
    https://4294967296/ https://127.0.0.0x100/ https://merchant.com%2fevil.com/ https://a^b.com/`,
  'a user name or password': `
    https://user@merchant.com/ https://user:secret@merchant.com/ https://:secret@merchant.com/
    https://merchant.com@evil.com/ https://merchant.com:443@evil.com/ https://merchant.com%40x@evil.com/
    https://user@127.0.0.1/`,
  'a port other than 443': `
    https://merchant.com:80/ https://merchant.com:444/ https://merchant.com:8443/ https://merchant.com:22/
    https://merchant.com:6379/ https://merchant.com:25/ https://merchant.com:0/ https://merchant.com:65535/
    https://127.0.0.1:8787/`,
  'an IP address': `
    https://127.0.0.1/ https://127.1/ https://127.0.1/ https://2130706433/ https://0x7f000001/ https://0x7f.1/
    https://0x7F.0x0.0x0.0x1/ https://0177.0.0.1/ https://017700000001/ https://0177.0x0.1/ https://0/
    https://0.0.0.0/ https://0x/ https://0x0/ https://127.0.0.1./ https://2130706433./ https://10.0.0.1/
    https://10.1/ https://172.16.0.1/ https://192.168.1.1/ https://192.168.257/ https://169.254.169.254/
    https://2852039166/ https://0xa9fea9fe/ https://0xa9.0xfe.0xa9.0xfe/ https://0251.0376.0251.0376/
    https://100.64.0.1/ https://100.100.100.200/ https://198.18.0.1/ https://224.0.0.1/ https://255.255.255.255/
    https://1.1.1.1/ https://8.8.8.8/ https://%31%32%37.0.0.1/ https://127%2e0%2e0%2e1/ https://①②⑦.⓪.⓪.①/
    https://１２７.０.０.１/ https://127。0。0。1/ https://[::1]/ https://[::]/ https://[0:0:0:0:0:0:0:1]/
    https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[::127.0.0.1]/ https://[fe80::1]/
    https://[fd00:ec2::254]/ https://[fc00::1]/ https://[2001:db8::1]/ https://[64:ff9b::7f00:1]/
    https://[2606:4700:4700::1111]/ https://[ff02::1]/ https://[2002:7f00:1::]/`,
  'ends with a dot': `
    https://merchant.com./ https://shop.merchant.com./ https://localhost./ https://metadata.google.internal./
    https://merchant.com%2e/ https://merchant.com。/`,
  'a single label': `
    https://merchant/ https://com/ https://intranet/ https://metadata/ https://localhost/ https://LOCALHOST/
    https://ｌｏｃａｌｈｏｓｔ/ https://loc%61lhost/ https://local\u00adhost/ https://kubernetes/ https://x/`,
  'not a public name': `
    https://foo.localhost/ https://printer.local/ https://PRINTER.LOCAL/ https://metadata.google.internal/
    https://instance-data.ec2.internal/ https://host.docker.internal/ https://router.home.arpa/ https://nas.lan/
    https://router.home/ https://wiki.corp/ https://db.intranet/ https://a.private/ https://host.localdomain/
    https://kubernetes.default.svc.cluster.local/ https://kubernetes.default.svc/ https://vault.service.consul/
    https://db.prod.k8s/ https://a.svc/ https://router.fritz/ https://nas.box2/ https://x.docker/ https://a.onion/
    https://a.b.localnet/ https://xn--a.xn--bcher-kva/ https://a.arpa/ https://expyuzz4wqqyqhjn.onion/ https://shop.test/
    https://shop.example/ https://shop.invalid/ https://shop.alt/ https://1.0.0.127.in-addr.arpa/ https://1.ip6.arpa/
    https://printer。local/ https://printer.ｌｏｃａｌ/ https://printer%2elocal/`,
  'no valid name': `
    https://-merchant.com/ https://merchant-.com/ https://a..com/ https://.com/ https://.merchant.com/
    https://mer'chant.com/ https://mer,chant.com/ https://mer(chant.com/ https://mer!chant.com/ https://mer*chant.com/
    https://*.merchant.com/ https://mer$chant.com/ https://mer;chant.com/ https://mer~chant.com/ https://mer&chant.com/
    https://${'a'.repeat(64)}.com/ https://${'a.'.repeat(130)}com/`,
  longer: `https://merchant.com/${'a'.repeat(4096)}`,
}

const admitted = `
  https://merchant.com/ https://merchant.com/a/b?c=d https://merchant.com:443/ https://shop.merchant.co.uk/
  https://api-1.merchant.io/v1 https://xn--bcher-kva.de/ https://bücher.de/ https://a.co.za/ https://例え.テスト.みんな/ https://shop.рф/ https://a.b.c.d.e.merchant.dev/
  https://_acme.merchant.com/ https://1password.com/ https://127.0.0.1.com/ https://10.merchant.com/
  https://local.merchant.com/ https://localhost.merchant.com/ https://internal.merchant.com/ https://mylocal.com/
  https://merchant.com/@user https://merchant.com/?u=http://127.0.0.1/ https://merchant.com/#http://localhost
  https://merchant.com/..%2f..%2f https://MERCHANT.com/ https:\\\\merchant.com\\ https:merchant.com
  https://merchant.com\\@evil.com/ https://notlocalhost.com/ https://a-b.com/ https://123.com/`

const listed = (text: string) => text.split(/\s+/).filter((entry) => entry !== '')
const cases = Object.entries(refused).flatMap(([reason, list]) =>
  listed(list).map((url): [string, string] => [url, reason]),
)

function refusalOf(url: string, config = production): string | undefined {
  const checked = checkUrl(url, config)
  return 'refused' in checked ? checked.refused : undefined
}

test.each(cases)('%s is refused for: %s', (url, reason) => {
  expect(refusalOf(url)).toContain(reason)
})

test.each(listed(admitted))('%s is a public address', (url) => {
  expect(checkUrl(url, production)).toEqual({ url: new URL(url) })
})

describe('with loopback allowed', () => {
  const loopback = `http://127.0.0.1/ http://127.0.0.1:8787/x https://127.0.0.1:1/ http://localhost:3000/ http://[::1]:5/
    http://2130706433:80/ http://LOCALHOST/`
  const closed = `http://127.0.0.2/ http://0.0.0.0/ http://10.0.0.1/ http://merchant.com/ http://foo.localhost/
    http://localhost./ http://user@localhost/ ftp://localhost/ http://169.254.169.254/ https://merchant.com:8443/
    http://localhost.evil.com/ http://[::ffff:127.0.0.1]/ http://127.0.0.1.evil.com:80/ ws://127.0.0.1/`

  test.each(listed(loopback))('%s is reached, and only then', (url) => {
    expect(checkUrl(url, local)).toEqual({ url: new URL(url) })
    expect(refusalOf(url)).toMatch(/^The /)
  })

  test.each(listed(closed))('%s stays closed', (url) => {
    expect(refusalOf(url, local)).toMatch(/^The /)
  })
})

const byte = fc.integer({ min: 0, max: 255 })
const radix = fc.constantFrom(
  (part: number) => part.toString(),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0${part.toString(8)}`,
)

test('no spelling of an IPv4 address is admitted', () => {
  const parts = fc.tuple(byte, byte, byte, byte)
  fc.assert(
    fc.property(parts, fc.tuple(radix, radix, radix, radix), byte, (bytes, spell, at) => {
      const keep = at % 4
      const tail = bytes.slice(keep).reduce((sum, part) => sum * 256 + part, 0)
      const numbers = [...bytes.slice(0, keep), tail]
      const host = numbers.map((part, index) => spell[index]?.(part)).join('.')
      expect(checkUrl(`https://${host}/`, production)).toHaveProperty('refused')
    }),
    { numRuns: 1000 },
  )
})

test('whatever is admitted is https on port 443 of a dotted name, without credentials', () => {
  const glued = fc
    .array(
      fc.constantFrom(
        ...'https://|http://|@|:|/|\\|.|。|127.0.0.1|localhost|com|a|[::1]|%2e|?|#|443|80'.split(
          '|',
        ),
      ),
      { maxLength: 12 },
    )
    .map((parts) => `https://${parts.join('')}`)
  const anything = fc.oneof(
    glued,
    fc.webUrl(),
    fc.string().map((host) => `https://${host}.com/`),
  )
  fc.assert(
    fc.property(anything, (text) => {
      const checked = checkUrl(text, production)
      if ('refused' in checked) return
      const { protocol, port, username, password, hostname } = checked.url
      expect([protocol, port, username, password]).toEqual(['https:', '', '', ''])
      expect([isIP(hostname), hostname.includes('.'), hostname.endsWith('.')]).toEqual([
        0,
        true,
        false,
      ])
    }),
    { numRuns: 1000 },
  )
})

/** The origin of the service itself, on a machine without a public address. */
const own = { allowLoopback: false, BASE_URL: 'http://127.0.0.1:8787' }

test.each(['v1', 'v2', 'mpp'])('the %s report of the own sandbox may be fetched', (name) => {
  expect(checkUrl(`${own.BASE_URL}/sandbox/${name}/report?q=1`, own)).toHaveProperty('url')
})

test.each([
  'http://127.0.0.1:8787/get-identity',
  'http://127.0.0.1:8787/sandbox',
  'http://127.0.0.1:8787/sandbox/../web/v2/report',
  'http://127.0.0.1:8787/sandbox/%2e%2e/v2/report',
  'http://127.0.0.1:8787/sandbox/..%2fweb/report',
  'http://127.0.0.1:8787/sandbox/v2/report/',
  'http://127.0.0.1:8788/sandbox/v2/report',
  'http://127.0.0.1/sandbox/v2/report',
  'https://127.0.0.1:8787/sandbox/v2/report',
  'http://localhost:8787/sandbox/v2/report',
  'http://user@127.0.0.1:8787/sandbox/v2/report',
])('%s is not a report of the own sandbox', (text) => {
  expect(checkUrl(text, own)).toHaveProperty('refused')
})
