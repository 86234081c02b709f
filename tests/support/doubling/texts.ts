/** What texts are made of that cost most: each piece over and over, and a few that grow in another way. */
import fc from 'fast-check'
import { sourcesIn } from '../tidy/files.ts'
import { writtenIn } from '../tidy/patterns.ts'

const pieces = [
  ...'a A 7 4829 é 字 \u0301 \u{1f469}\u200d \u00ad \0 \ud800 . , ; : - _ ~ = ( ) [ { } " \' ` < > & # % / \\ @ | ! *'.split(
    ' ',
  ),
  ...' |\t|\n|\r|\r\n|\r\n\r\n| \n|4829\n|4829 |482-913 |4·8·|[4]|руб|руб4829 |order::::|code: |is your code '.split(
    '|',
  ),
  ...'code is Xk9#mQ2!vT |KDF-QWE |faint-mossy-tidal |https://a.example/4829 |https://|www.|.,:;!?)'.split(
    '|',
  ),
  ...'<p>|<p|</p>|<i class=a>|<a href="|<!--|-->|<style>a{|a{color:red}|.a .b,|<table><tr><td>|<script>|<![CDATA['.split(
    '|',
  ),
  ...'&amp;|&#x41;|&#0;|&nbsp|style="|style="color:#fff;|font-size:0;|display:none;|<input name=a type=password>'.split(
    '|',
  ),
  ...'--b\r\n|--b\r\n\r\na\r\n|--b--\r\n|=\r\n|=3D|=?utf-8?q?=61?= |=?utf-8?b?YQ==?=|a=b;|a="\\"";|(a(|\\(|a@b.example,'.split(
    '|',
  ),
  ...'"a" <a@b.c>, |<a@b> |spf=pass |a=b |Payment a="b", |Basic |aaaa |YWFh|{"a":|[[|"a",|\\u0061|%00|%u|a=b&|xn--|a.b.'.split(
    '|',
  ),
]

export type Text = { name: string; of(length: number): string }

function repeated(piece: string): Text {
  const name = `${JSON.stringify(piece)} over and over`
  return { name, of: (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length) }
}

export const texts: readonly Text[] = [
  ...[...new Set(pieces.filter((piece) => piece !== ''))].map(repeated),
  {
    name: 'one rule and its elements',
    of: (length) =>
      `<style>.a{${'color:red;'.repeat(length / 20)}}</style>${'<i class=a>'.repeat(length / 22)}`,
  },
  {
    name: 'as many rules as elements',
    of: (length) =>
      `<style>${Array.from({ length: length / 40 }, (_, at) => `.a${at}{color:red}`).join('')}</style>${'<i class=a1>'.repeat(length / 24)}`,
  },
  {
    name: 'other words each time',
    of: (length) =>
      Array.from({ length: length / 14 }, (_, at) => `code: ${at * 7_919}x `)
        .join('')
        .slice(0, length),
  },
  {
    name: 'half of it opened and half of it closed',
    of: (length) => `${'<b>'.repeat(length / 7)}${'</b>'.repeat(length / 7)}`,
  },
  {
    name: 'brackets in brackets',
    of: (length) => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`,
  },
]

/** A few texts that each pattern of these folders matches, over and over, with an end that fits none. */
export function textsOfPatterns(...folders: string[]): Text[] {
  const patterns = sourcesIn(...folders).flatMap(writtenIn)
  const samples = patterns.flatMap(({ source, flags }) => {
    try {
      const matching = fc.stringMatching(new RegExp(source, flags.replace('y', '')))
      return fc.sample(matching, { seed: 1, numRuns: 3 }).map((one) => one.slice(0, 40))
    } catch {
      // What fast-check cannot make is left to the pieces above and to the test of the patterns.
      return []
    }
  })
  return [...new Set(samples)]
    .filter((piece) => piece !== '')
    .map((piece) => ({
      ...repeated(piece),
      of: (length) => `${repeated(piece).of(length - 1)}\u0001`,
    }))
}
