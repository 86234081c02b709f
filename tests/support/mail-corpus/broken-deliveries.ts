/** Broken messages through the whole way of a mail: each is kept in full, or refused with a reason. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { visibleText } from '../../../shared/mail/untrusted.ts'
import { parseMail } from '../../../shared/mailbox/parse.ts'
import { mailRefusals } from '../../../shared/mailbox/parse-refusals.ts'
import { byPlatform } from '../inbound.ts'
import { storedMails } from '../stored-mail.ts'
import type { TestWorld } from '../world.ts'
import { brokenMessage } from './broken.ts'

const bounces = Object.values(mailRefusals)
  .filter((reply) => reply.startsWith('5'))
  .map((reply) => ({ rejected: reply.slice('550 '.length) }))

/** Delivers so many; answers how many were kept and how many refused. */
export async function deliverBroken(product: TestWorld, count: number) {
  const { world, db } = product
  const { alias, id } = await product.agent('read')
  const to = `${alias}@agents.example`
  const seen = { kept: 0, refused: 0 }
  const isWhole = async ({ raw: text }: { raw: string }) => {
    const raw = Buffer.from(text, 'latin1')
    // Its pace is another test's.
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
    // No limit of the mailbox, and no mail that was here before, is to stand in the way.
    await db.sql`delete from private.mails where account = ${id}`
  }
  await fc.assert(fc.asyncProperty(brokenMessage, isWhole), { numRuns: count, seed: 6 })
  return seen
}

function contentOf({ head, body, files }: Awaited<ReturnType<typeof storedMails>>[number]) {
  const names = [head.name, head.subject, ...body.to.map(({ name }) => name)]
  const { text, htmlText, messageId, inReplyTo, references, flaws } = body
  return {
    names: [...names, ...body.attachments.map(({ name }) => name)].map((one) => one.text),
    texts: [text.text, htmlText.text],
    ids: [messageId, inReplyTo, ...references],
    files: files.map((bytes) => Buffer.from(bytes).toString('hex')),
    flaws,
  }
}

/** What its reader finds in it; a test of its own says that the reader loses nothing. */
async function contentIn(raw: Uint8Array) {
  const mail = await parseMail(raw)
  if ('refused' in mail) throw new Error('it was taken and cannot be read')
  const names = [mail.from.name, mail.subject, ...mail.to.map(({ name }) => name)]
  return {
    names: [...names, ...mail.attachments.map(({ name }) => name)],
    texts: [visibleText(mail.text), visibleText(mail.htmlText)],
    ids: [mail.messageId, mail.inReplyTo, ...mail.references],
    files: mail.attachments.map(({ content }) => Buffer.from(content).toString('hex')),
    flaws: mail.flaws,
  }
}
