/**
 * Pairs of a mandate and an address to pay. A mandate that begins with `*.` was approved with its
 * subdomains. An address is covered, belongs to another host, or is never fetched.
 */
import type { DomainProblem } from '../../shared/mandates/host-name.ts'

type Outcome = 'covered' | 'other' | 'unpayable'

/** For each mandate the addresses by outcome, separated by whitespace. */
type Table = Record<string, Partial<Record<Outcome, string>>>

/** The host itself in all spellings that reach it, and addresses that only resemble it. */
const exact: Table = {
  'shop.example.com': {
    covered: `
      https://shop.example.com/ https://shop.example.com https://shop.example.com:443/item?id=1
      HTTPS://SHOP.EXAMPLE.COM/Item https://shop.example.com/#fragment
      https://shop.example.com/@evil.com https://shop.example.com/https://evil.com/
      https://shop.example.com/?u=https://evil.com https:shop.example.com/ https:/shop.example.com/
      https:\\\\shop.example.com\\item https://shop\u3002example\uff0ecom/
      https://\uff53hop.example.com/ https://sh\u00adop.example.com/ https://%73hop.example.com/
      https://shop%2eexample%2ecom/ https://\u24e2hop.example.com/ https://sh\u200bop.example.com/
      https://shop.examp\u217ce.com/`,
    other: `
      https://example.com/ https://www.shop.example.com/ https://shop.example.com.evil.com/
      https://shop.example.com-evil.com/ https://evil-shop.example.com/ https://notshop.example.com/
      https://shopexample.com/ https://shop.example.co/ https://shop.example.com.co/
      https://shop.example.net/ https://shop.example.org.evil.net/ https://shop-example.com/
      https://shop.exarnple.com/ https://sh0p.example.com/ https://sh\u043ep.example.com/
      https://shop.\u0435xample.com/ https://\u0455hop.example.com/
      https://sh\u00f6p.example.com/ https://shop\u0307.example.com/ https://\u1e63hop.example.com/
      https://evil.com/shop.example.com https://evil.com/?shop.example.com
      https://evil.com/#@shop.example.com https://evil.com#@shop.example.com/
      https://evil.com\\@shop.example.com/ https://evil.com\\.shop.example.com/
      https://evil.com?.shop.example.com/ https://xn--shop-example.com/`,
    unpayable: `
      https://shop.example.c\u043em/ https://shop.example.com@evil.com/ https://shop.example.com:443@evil.com/
      https://shop.example.com:pw@evil.com/ https://user@shop.example.com/
      https://shop.example.com%40evil.com/ https://shop.example.com%2fevil.com/
      https://shop.example.com%00.evil.com/ https://shop.example.com./ https://shop.example.com../
      https://shop..example.com/ https://.shop.example.com/ https://shop.example.com:444/
      https://shop.example.com:8443/ https://shop.example.com:80/ https://shop.example.com:0/
      http://shop.example.com/ http://shop.example.com:443/ ftp://shop.example.com/
      wss://shop.example.com/ blob:https://shop.example.com/x view-source:https://shop.example.com/
      //shop.example.com/ shop.example.com https://shop.example.com,evil.com/
      https://shop.example.com;evil.com/ https://shop.example.com$.evil.com/
      https://[::ffff:shop.example.com]/ https://93.184.216.34/ https://1572395042/ https://0x5db8d822/
      https://[2606:2800:220:1:248:1893:25c8:1946]/ https://localhost/ https://shop/
      https://shop.example/`,
  },
  'SHOP.Example.COM': {
    covered: `https://shop.example.com/`,
    other: `https://example.com/`,
  },
  'example.com': {
    covered: `https://example.com/`,
    other: `
      https://www.example.com/ https://notexample.com/ https://example.com.evil.com/
      https://example.comevil.com/`,
    unpayable: `https://com/ https://example.com.evil/`,
  },
}

/** Addresses that others hope a mandate for a well-known name covers. */
const wellKnown: Table = {
  'github.com': {
    covered: 'https://github.com/ https://GitHub.com/a/b https://git%68ub.com/',
    other: `
      https://gist.github.com/ https://github.io/ https://github.com.br/ https://github.co/
      https://githubcom.com/ https://github.com.github.io/ https://raw.githubusercontent.com/github.com
      https://gith\u00fcb.com/ https://g\u0456thub.com/ https://\u0261ithub.com/ https://github.c0m.com/
      https://xn--gthub-n4a.com/ https://g1thub.com/ https://githuub.com/ https://github.com\u2044evil.com/ https://www-github.com/`,
    unpayable: `
      https://github.com\u2100evil.com/ https://github.com:22/
      https://git@github.com/ ssh://git@github.com/a/b git://github.com/a/b https://github.com\uff0fevil.com/
      https://github.com\uff20evil.com/ https://github.com\uff1a8443/ https://github.com./`,
  },
  'paypal.com': {
    covered: 'https://paypal.com/ https://\u24df\u24d0\u24e8pal.com/',
    other: `
      https://paypa1.com/ https://paypaI.co/ https://p\u0430ypal.com/ https://\u0440\u0430\u0443\u0440\u0430l.com/
      https://xn--pypal-4ve.com/ https://payp\u0251l.com/ https://paypal.com.secure-login.com/
      https://paypal-com.com/ https://www.paypal.com/ https://payp\u00e1l.com/ https://pa\u0443pal.com/
      https://paypal.cm/ https://paypal.corn.com/`,
  },
  '*.shop.com.au': {
    covered: 'https://shop.com.au/ https://pay.shop.com.au/',
    other:
      'https://com.au/ https://evil.com.au/ https://pay-shop.com.au/ https://shop.com.au.evil.com/',
  },
  'shop.vercel.app': {
    covered: 'https://shop.vercel.app/',
    other: 'https://vercel.app/ https://evil.vercel.app/ https://shop.evil.vercel.app/',
  },
}

/** Subdomains of mandates with them, and hosts under a suffix that many share. */
const below: Table = {
  '*.example.com': {
    covered: `
      https://example.com/ https://www.example.com/ https://a.b.c.example.com/
      https://WWW.example.com:443/ https://b\u00fccher.example.com/
      https://xn--bcher-kva.example.com/`,
    other: `
      https://notexample.com/ https://evil-example.com/ https://www.notexample.com/
      https://example.com.evil.com/ https://www.example.com.evil.com/ https://www.example.co/
      https://www.ex\u0430mple.com/ https://evil.com/www.example.com https://_a.example.com/`,
    unpayable: `
      https://www.example.com@evil.com/ https://www.example.com./ https://.example.com/
      https://www..example.com/ https://www.example.com:8443/ https://*.example.com/`,
  },
  '*.shop.github.io': {
    covered: `
      https://shop.github.io/ https://eu.shop.github.io/`,
    other: `
      https://github.io/ https://evil.github.io/ https://notshop.github.io/`,
  },
  '*.shop.co.uk': {
    covered: `
      https://shop.co.uk/ https://www.shop.co.uk/`,
    other: `
      https://evil.co.uk/ https://co.uk/`,
  },
  'bucket.s3.amazonaws.com': {
    covered: `https://bucket.s3.amazonaws.com/`,
    other: `
      https://evil.s3.amazonaws.com/ https://s3.amazonaws.com/bucket`,
  },
}

/** Names in other scripts: each has one normal form, however it is typed. */
const international: Table = {
  '\u212aelvin.de': { covered: 'https://kelvin.de/' },
  'b\u00fccher.de': {
    covered: `
      https://b\u00fccher.de/ https://xn--bcher-kva.de/ https://B\u00dcCHER.de/ https://bu\u0308cher.de/`,
    unpayable: `https://b\u00fccher.xn--de/`,
    other: `
      https://bucher.de/ https://buecher.de/ https://b\u00fccher.de.evil.com/ https://b\u1eedcher.de/`,
  },
  'bu\u0308cher.de': {
    covered: `https://xn--bcher-kva.de/`,
  },
  'xn--bcher-kva.de': {
    covered: `https://b\u00fccher.de/`,
    other: `https://bucher.de/`,
  },
  'XN--BCHER-KVA.DE': {
    covered: `https://b\u00fccher.de/`,
  },
  'fa\u00df.de': {
    covered: `https://fa\u00df.de/`,
    other: `https://fass.de/`,
  },
  'fass.de': {
    covered: `https://fass.de/`,
    other: `https://fa\u00df.de/`,
  },
  '\u65e5\u672c\u8a9e.jp': {
    covered: `https://xn--wgv71a119e.jp/`,
  },
  '\u4f8b\u3048abc.jp': {
    covered: `https://\u4f8b\u3048abc.jp/`,
  },
  '\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444': {
    covered: `https://xn--e1afmkfd.xn--p1ai/`,
    other: `https://\u043f\u0440\u0438\u043c\u0435\u0440.com/`,
  },
  '\u03bf\u03c5\u03c4\u03bf\u03c0\u03af\u03b1.gr': {
    covered: `https://xn--kxae4bafwg.gr/`,
  },
}

/** Addresses with characters at which the lists above are split. */
const spaced: readonly [mandate: string, url: string, outcome: Outcome][] = [
  ['shop.example.com', 'https://sh\top.example.com/', 'covered'],
  ['shop.example.com', 'https://shop.example\n.com/', 'covered'],
  ['shop.example.com', ' https://shop.example.com/ ', 'covered'],
  ['shop.example.com', 'https://shop.example.com evil.com/', 'unpayable'],
]

export const merchantPairs: readonly (readonly [string, string, Outcome])[] = [
  ...[exact, wellKnown, below, international].flatMap((table) =>
    Object.entries(table).flatMap(([mandate, { covered = '', other = '', unpayable = '' }]) => [
      ...words(covered).map((url) => [mandate, url, 'covered'] as const),
      ...words(other).map((url) => [mandate, url, 'other'] as const),
      ...words(unpayable).map((url) => [mandate, url, 'unpayable'] as const),
    ]),
  ),
  ...spaced,
]

/** Names that no mandate can have, by the rule that each breaks. */
export const refusedNames: Readonly<Record<DomainProblem, string>> = {
  empty: ``,
  too_long: `${'a'.repeat(64)}.com ${'a.'.repeat(126)}com ${'\u00fc'.repeat(60)}.com ${'a'.repeat(300)}.com`,
  invisible_character: `
      example.com\u0000 exam\u00adple.com exam\u200bple.com exam\u200dple.com exam\u2060ple.com
      moc.elpmaxe\u202e.com example\u115f.com exam\u034fple.com exam\ufe0fple.com exam\u3164ple.com
      exam\ud800ple.com`,
  userinfo: `
      user@example.com https://example.com@evil.com example.com:443@evil.com @`,
  url: `
      https://example.com https://example.com:8443/ http://example.com/ example.com/ example.com/path
      example.com?x example.com#x example.com\\evil.com //example.com \\\\example.com`,
  port: `
      example.com:443 example.com:8443 example.com: localhost:4021 127.0.0.1:4021`,
  ip_address: `
      127.0.0.1 127.1 2130706433 0x7f.1 0x7f000001 017700000001 0177.0.0.1 93.184.216.34 93.184.216.34.
      999.1.1.1 example.0x example.com.1 [::1] ::1 [::ffff:127.0.0.1] fe80::1%eth0`,
  percent_encoding: `
      example%2ecom %65xample.com example.com%00 b%C3%BCcher.de`,
  trailing_dot: `
      example.com. shop.example.com.. .`,
  empty_label: `
      .example.com shop..example.com`,
  invalid_label: `
      *.example.com -example.com example-.com shop_a.example.com _example.com example.com,evil.com
      example!.com example'.com <b>.com example\u3002com example\uff0ecom example\uff61com \u2764.ws
      \u24d4xample.com example\u2044evil.com example\u2215evil.com exa\u00b7mple.com xn--.com
      xn--example-.com xn--qei.ws`,
  invalid_name: `
      xn--a.com xn--99999999.com 1\u0660a.com xn--b\u00fccher.de`,
  not_plain: `
      \uff45xample.com \uff25\uff38\uff21\uff2d\uff30\uff2c\uff25.com \u1d49xample.com
      example.\uff43om \u{1d41e}xample.com \u13aapple.com \uff11\uff12.com o\ufb03ce.com`,
  mixed_scripts: `
      \u0435xample.com ex\u0430mple.com xn--xample-2of.com examp\u04cfe.com sh\u043fp.example.com
      xn--80a1acny0a.xn--xample-2of.com \u03bfutlook.com \u0440aypal.com exampl\u0565.com
      example.c\u043em \u4e00\u0430.com \u3042\uac00.com`,
  reads_as_another: `
      \u1d04oinbase.com \u1d00pple.com \ua731hopify.com payp\u0061\u0131.com v\u0131sa.com \u0578\u0585\u0578.com
      \u0430\u0440\u0440\u04cf\u0435.com xn--80ak6aa92e.com shop.\u0435\u0445\u0430.com \u03b1\u03c1.com
      \u0261oogle.com p\u0251ypal.com shoq\u0307.com x\u0323.com`,
  single_label: `
      com shop localhost intranet \u4e2d\u56fd`,
  not_public: `
      shop.local shop.localhost shop.internal shop.onion shop.test shop.example shop.invalid router.lan
      router.home.arpa 1.0.0.127.in-addr.arpa printer.corp example.evil
      example.com.evil shop.notatld shop.xn--b-uga kubernetes.default.svc`,
  unknown_suffix: `
      merchant.za shop.merchant.za`,
  public_suffix: `
      co.uk com.au github.io GitHub.IO s3.amazonaws.com vercel.app pages.dev blogspot.com herokuapp.com
      kawasaki.jp any.kawasaki.jp \u516c\u53f8.cn xn--55qx5d.cn`,
}

/** More such names, with characters at which the lists above are split. */
export const refusedSpaced = [
  ' example.com',
  'example.com ',
  'exam ple.com',
  'exam\tple.com',
  'example.com\n',
  '\ufeffexample.com',
]

/** Splits a text at spaces and line breaks; characters that only look like a space stay. */
export function words(text: string): string[] {
  return text.split(/[ \n]+/).filter((word) => word !== '')
}
