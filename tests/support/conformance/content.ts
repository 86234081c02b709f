/** Tools, resources and prompts that the conformance suite reads, with each kind of content. */
import type { CallToolResult, ContentBlock, McpServer } from '@modelcontextprotocol/server'
import { completable, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** A red pixel, and a sound of length zero. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const image: ContentBlock = { type: 'image', data: png, mimeType: 'image/png' }
const contents: Record<string, ContentBlock[]> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_streaming_elicitation: [text('No request of its own is in this stream.')],
}

/** Adds tools that answer each kind of content, resources, prompts and completion. */
export function addContent(server: McpServer): void {
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: name }, (): CallToolResult => ({ content }))
  }
  addResources(server)
  addPrompts(server)
}

function addResources(server: McpServer) {
  const plain = { description: 'A text', mimeType: 'text/plain' }
  for (const uri of ['test://static-text', 'test://watched-resource']) {
    server.registerResource(uri, uri, plain, () => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the resource.' }],
    }))
  }
  const pixel = { description: 'A pixel', mimeType: 'image/png' }
  server.registerResource('static-binary', 'test://static-binary', pixel, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: png }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  const data = { description: 'Data of an id', mimeType: 'application/json' }
  server.registerResource('template', template, data, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }))
}

function addPrompts(server: McpServer) {
  const user = (content: ContentBlock) => ({ role: 'user' as const, content })
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }))
  const argument = (words: string) =>
    completable(z.string().describe(words), (value) => [`${value}-completed`])
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'With arguments',
      argsSchema: z.object({ arg1: argument('The first'), arg2: argument('The second') }),
    },
    ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }))
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words }
}

function embedded(uri: string, mimeType: string, words: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text: words } }
}
