/** The checks that every page has to pass find each fault of a page that has all of them. */
import { expect, test } from 'vitest'
import { openScene } from '../support/browser/browser.ts'
import { barriersOn, outOfReachOn, sidewaysOn } from '../support/browser/sight.ts'

const scene = await openScene()

const bad = `<!doctype html><html lang="en"><title>Bad</title><style>
  p { color: #ccc; background: #fff } div { width: 500px } a { outline: none }
  button:focus-visible { outline: 3px solid #000 } </style>
  <main><h1>Bad</h1><p>faint</p><div>wide</div>
  <a href="/">no ring</a> <button>good</button> <button tabindex="-1">skipped</button></main>`

test('faint text, a control without reach or ring, and sideways scroll are seen', async () => {
  const { page } = await scene.stranger({ viewport: { width: 360, height: 720 } })
  await page.route('**/bad', (route) => route.fulfill({ contentType: 'text/html', body: bad }))
  await page.goto('/bad')

  const barriers = await barriersOn(page)
  const outOfReach = await outOfReachOn(page)
  const sideways = await sidewaysOn(page)

  expect(barriers.join()).toContain('color-contrast: <p>faint</p>')
  expect(outOfReach).toEqual([
    'unreached: <button tabindex="-1">skipped</button>',
    'dim: <a href="/">no ring</a>',
  ])
  expect(sideways).toEqual(['<div>wide</div>'])
})

const late = `<!doctype html><html lang="en"><title>Late</title><style>
  button:focus-visible { outline: 3px solid #000 } </style>
  <main><h1>Late</h1><button>first</button><p></p><button>last</button></main>
  <script>document.querySelector('button').addEventListener('focus', () => {
    document.querySelector('p').innerHTML = '<button>new</button><button>new</button><button>new</button>'
  }, { once: true })</script></html>`

test('a control counts as reached although others came before it on the way', async () => {
  const { page } = await scene.stranger()
  await page.route('**/late', (route) => route.fulfill({ contentType: 'text/html', body: late }))
  await page.goto('/late')

  expect(await outOfReachOn(page)).toEqual([])
})
