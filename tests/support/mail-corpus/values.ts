/** Values for the placeholders of the templates: codes as services write them, numbers as people do. */

type Random = () => number

export function valueOf(key: string, language: string, random: Random): string {
  const make = makers[key]
  if (!make) throw new Error(`a template names ${key}`)
  return make(random, language)
}

const pick = <Value>(random: Random, values: readonly [Value, ...Value[]]): Value =>
  values[Math.floor(random() * values.length)] ?? values[0]

/**
 * Returns characters for a form: 9 is a digit, A a letter or digit, L a letter, ¤ a hex digit, ¬ a letter,
 * digit or underscore.
 */
function pattern(random: Random, form: string): string {
  const signs: Readonly<Record<string, string>> = {
    '9': '0123456789',
    A: 'ABCDEFGHJKMNPQRSTUVWXYZ23456789',
    L: 'ABCDEFGHJKMNPQRSTUVWXYZ',
    '¤': '0123456789abcdef',
    '¬': 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_',
  }
  return form.replaceAll(/[9AL¤¬]/g, (sign) => {
    const set = signs[sign] ?? ''
    return set[Math.floor(random() * set.length)] ?? ''
  })
}

function code(random: Random, language: string): string {
  const chance = random()
  if (chance < 0.5) return pattern(random, '999999')
  if (chance < 0.9) {
    const forms = [
      '9999',
      '99999',
      '9999999',
      '99999999',
      '999 999',
      '999-999',
      'G-999999',
      'L9A9-A9L9',
    ] as const
    return pattern(
      random,
      pick(random, [
        ...forms,
        '9L9A9A',
        'L9A9L9',
        'LL-999999',
        '99 99 99',
        '9999 9999',
        'L9L9L9L9',
        '9LLL-LLL9',
      ]),
    )
  }
  const plain = pattern(random, '999999')
  const zero = /zh|ja/.test(language) ? 0xff10 : pick(random, [0x0660, 0x06f0, 0x0966])
  return plain.replaceAll(/\d/g, (digit) => String.fromCharCode(zero + Number(digit)))
}

function amount(random: Random, language: string): string {
  const whole = 1_000 + Math.floor(random() * 90_000)
  const [thousands, rest] = [String(Math.floor(whole / 1_000)), pattern(random, '999')]
  const cents = pattern(random, '99')
  switch (language) {
    case 'zh':
      return pick(random, [`¥${thousands},${rest}.${cents}`, `${thousands}${rest}元`])
    case 'ja':
      return pick(random, [`¥${thousands},${rest}`, `${thousands},${rest}円`])
    case 'tr':
      return pick(random, [`${thousands}.${rest},${cents} TL`, `₺${thousands}${rest},${cents}`])
    case 'ru':
      return pick(random, [`${thousands} ${rest} ₽`, `${thousands}${rest} руб.`])
    case 'pl':
      return `${thousands} ${rest},${cents} zł`
    case 'pt':
      return pick(random, [`R$ ${thousands}.${rest},${cents}`, `${thousands}${rest},${cents} €`])
    case 'en':
      return pick(random, [
        `$${thousands},${rest}.${cents}`,
        `USD ${thousands}${rest}`,
        `£${thousands}${rest}`,
      ])
    default:
      return pick(random, [
        `${thousands}.${rest},${cents} €`,
        `${thousands}${rest},${cents} EUR`,
        `€ ${thousands}${rest}`,
      ])
  }
}

function date(random: Random, language: string): string {
  const [day, month] = [1 + Math.floor(random() * 28), 1 + Math.floor(random() * 12)]
  const year = 2020 + Math.floor(random() * 8)
  const two = (number: number) => String(number).padStart(2, '0')
  if (/zh|ja/.test(language))
    return pick(random, [`${year}年${month}月${day}日`, `${year}/${two(month)}/${two(day)}`])
  const forms = [
    `${two(day)}.${two(month)}.${year}`,
    `${two(day)}/${two(month)}/${year}`,
    `${year}-${two(month)}-${two(day)}`,
  ] as const
  return pick(
    random,
    language === 'en' ? [...forms, `${day} March ${year}`, `May ${day}, ${year}`] : forms,
  )
}

const makers: Readonly<Record<string, (random: Random, language: string) => string>> = {
  code,
  amount,
  date,
  link: (random) =>
    pattern(
      random,
      pick(random, [
        'https://acme.example/verify?token=¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬',
        'https://app.acme.example/magic/¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤¤',
        'https://acme.example/auth/callback?code=¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬&state=¬¬¬¬¬¬¬¬',
        'https://u999.ct.mailer.example/ls/click?upn=¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬',
        'https://acme.example/users/password/edit?reset_password_token=¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬',
        'https://acme.example/r/¤¤¤¤¤¤¤¤-¤¤¤¤-4¤¤¤-a¤¤¤-¤¤¤¤¤¤¤¤¤¤¤¤',
        'https://acme.example/login#access_token=eyJ¬¬¬¬¬¬¬¬¬¬¬¬.eyJ¬¬¬¬¬¬¬¬¬¬¬¬.¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬',
      ]),
    ),
  url: (random) =>
    pattern(
      random,
      pick(random, [
        'https://acme.example/help',
        'https://shop.acme.example/orders/99999999',
        'https://acme.example/blog/999-ideas-for-the-weekend?utm_source=mail&utm_campaign=autumn',
        'https://acme.example/item/LLLL9999',
      ]),
    ),
  unsub: (random) => pattern(random, 'https://acme.example/unsubscribe?u=¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬¬'),
  brand: (random) =>
    pick(random, ['Acme', 'Nordlicht', 'Kumo Pay', 'PixelHub 24', 'Zürn & Co', '3Bridges']),
  user: (random) => pick(random, ['ada', 'boris7', 'chloe.m', 'yuki_k']),
  name: (random) => pick(random, ['Ada', 'Boris', 'Chloé', 'Yuki', 'Łukasz']),
  mail: (random) => pattern(random, 'ada9999@mail.example'),
  min: (random) => pick(random, ['5', '10', '15', '30', '60']),
  count: (random) => String(2 + Math.floor(random() * 500)),
  percent: (random) => `${5 + Math.floor(random() * 70)}%`,
  time: (random) => `${10 + Math.floor(random() * 13)}:${10 + Math.floor(random() * 49)}`,
  year: (random) => String(2020 + Math.floor(random() * 8)),
  zip: (random, language) =>
    pattern(
      random,
      { ja: '999-9999', ru: '199999', zh: '199999', pl: '99-999', pt: '9999-999', nl: '9999 LL' }[
        language
      ] ?? '99999',
    ),
  ip: (random) =>
    pattern(random, pick(random, ['203.0.113.99', '198.51.100.9', '2001:db8:9¤9¤::¤¤'])),
  phone: (random, language) =>
    pattern(
      random,
      language === 'en'
        ? pick(random, ['(555) 999-9999', '+1 555 999 9999', '555-999-9999'])
        : pick(random, [
            '+49 30 99999999',
            '0800 999 9999',
            '+7 (495) 999-99-99',
            '+33 1 99 99 99 99',
          ]),
    ),
  order: (random) =>
    pattern(random, pick(random, ['302-9999999-9999999', '#99999', '9999999999', 'B-999999'])),
  invoice: (random) =>
    pattern(random, pick(random, ['INV-2026-9999', 'RE-999999', '20269999', 'A9999/26'])),
  account: (random) => pattern(random, pick(random, ['99999999', 'K-9999999', '9999 9999'])),
  tracking: (random) =>
    pattern(
      random,
      pick(random, ['1Z999AA19999999999', '999999999999', 'RR999999999DE', 'JD9999999999']),
    ),
  iban: (random) =>
    pattern(
      random,
      pick(random, [
        'DE99 9999 9999 9999 9999 99',
        'GB99NWBK99999999999999',
        'TR999999999999999999999999',
      ]),
    ),
  card4: (random) => pattern(random, '9999'),
  ticket: (random) => pattern(random, pick(random, ['999999', 'T-99999', '#9999999', 'CASE-9999'])),
  booking: (random) => pattern(random, pick(random, ['L9L9LL', 'LLL999'])),
  flight: (random) => pattern(random, 'LH9999'),
  promo: (random) => pick(random, ['SAVE20', 'HERBST25', 'WELCOME', 'BLACK2026', 'XMAS-15']),
  errno: (random) => pattern(random, pick(random, ['4049', '99999', '0x9999'])),
  sku: (random) => pattern(random, pick(random, ['9999', 'LL-9999', 'LLL999', 'LLLL-99-L'])),
  version: (random) => pattern(random, pick(random, ['9.9.9', '99.9.99', 'v9.99.9', '9.9.9-rc.9'])),
  commit: (random) => pattern(random, '¤¤¤¤¤¤¤'),
  sha: (random) => pattern(random, '¤'.repeat(pick(random, [40, 64]))),
  hexid: (random) => pattern(random, '¤'.repeat(32)),
  fingerprint: (random) => pattern(random, '¬'.repeat(43)),
  issue: (random) => pattern(random, '#9999'),
  serial: (random) => pattern(random, pick(random, ['99999999', 'LL99-9999-999', '9LL9999999'])),
  vat: (random) => pattern(random, pick(random, ['DE999999999', 'GB999999999', 'L99999999'])),
  port: (random) => pattern(random, '9999'),
}
