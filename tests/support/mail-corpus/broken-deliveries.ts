/** Broken messages through the whole path of a mail: each is kept in full, or refused with a reason. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { parseMail } from '../../../shared/mailbox/receive/parse.ts'
import { mailRefusals } from '../../../shared/mailbox/receive/parse-refusals.ts'
import { visibleText } from '../../../shared/text/untrusted.ts'
import { byPlatform } from '../inbound.ts'
import { storedMails } from '../stored-mail.ts'
import type { TestWorld } from '../world.ts'
import { brokenMessage } from './broken.ts'

const bounces = Object.values(mailRefusals)
  .filter((reply) => reply.startsWith('5'))
  .map((reply) => ({ rejected: reply.slice('550 '.length) }))

/** Delivers broken messages and counts those kept and those refused. */
export async function deliverBroken(product: TestWorld, count: number) {
  const { world, db } = product
  const { alias, id } = await product.agent('read')
  const to = `${alias}@agents.example`
  const seen = { kept: 0, refused: 0 }
  const isWhole = async ({ raw: text }: { raw: string }) => {
    const raw = Buffer.from(text, 'latin1')
    // Another test covers the rate limit.
    await db.sql`delete from private.rate_buckets`
    const outcome = await byPlatform(world, { to, raw })
    const mails = await storedMails(product, id)
    if (!('taken' in outcome)) {
      expect(bounces).toContainEqual(outcome)
      expect(mails).toEqual([])
      seen.refused += 1
      return
    }
    seen.kept += 1
    expect(mails.map(contentOf)).toEqual([await contentIn(raw)])
    // Earlier mails are removed, so that no limit of the mailbox interferes.
    await db.sql`delete from private.mails where account = ${id}`
  }
  await fc.assert(fc.asyncProperty(brokenMessage, isWhole), { numRuns: count, seed: 6 })
  return seen
}

function contentOf({ head, body, files }: Awaited<ReturnType<typeof storedMails>>[number]) {
  const names = [head.name, head.subject, ...body.to.map(({ name }) => name)]
  const { text, messageId, inReplyTo, references, flaws } = body
  return {
    names: [...names, ...body.attachments.map(({ name }) => name)].map((one) => one.text),
    text: text.text,
    ids: [messageId, inReplyTo, ...references],
    files: files.map((bytes) => Buffer.from(bytes).toString('hex')),
    flaws,
  }
}

/** Returns what the parser finds in a message; a separate test shows that the parser loses nothing. */
async function contentIn(raw: Uint8Array) {
  const mail = await parseMail(raw)
  if ('refused' in mail) throw new Error('it was taken and cannot be read')
  const names = [mail.from.name, mail.subject, ...mail.to.map(({ name }) => name)]
  return {
    names: [...names, ...mail.attachments.map(({ name }) => name)],
    text: visibleText(mail.text),
    ids: [mail.messageId, mail.inReplyTo, ...mail.references],
    files: mail.attachments.map(({ content }) => Buffer.from(content).toString('hex')),
    flaws: mail.flaws,
  }
}
