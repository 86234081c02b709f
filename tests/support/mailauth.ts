/** Verdicts on a mail's DKIM and DMARC by an independent library. */
import { authenticate } from 'mailauth'

/** Domains and selector under which a DKIM key is published. */
export type DkimRecord = { domains: string[]; selector: string; public_key: string }

/** Checks a message as a receiving server does, with a DNS that has this key only. */
export async function judged(message: string, { domains, selector, public_key: key }: DkimRecord) {
  const records = new Map(
    domains.flatMap((domain) => [
      [`${selector}._domainkey.${domain}`, key],
      [`_dmarc.${domain}`, 'v=DMARC1; p=reject; adkim=s'],
    ]),
  )
  const { dkim, dmarc } = await authenticate(Buffer.from(message, 'latin1'), {
    ip: '192.0.2.1',
    helo: 'mail.example',
    sender: `bounces@${domains[0]}`,
    strict: true,
    disableArc: true,
    disableBimi: true,
    async resolver(name, type) {
      const record = records.get(name)
      if (type === 'TXT' && record !== undefined) return [[record]]
      throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' })
    },
  })
  return {
    dkim: dkim.results.map(({ status }) => status.result),
    dmarc: dmarc ? dmarc.status.result : 'none',
    signs: dkim.results.flatMap(({ signingHeaders }) => signingHeaders?.keys.split(': ') ?? []),
  }
}
