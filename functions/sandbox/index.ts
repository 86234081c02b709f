import { sandboxFunction } from './serve.ts'

export default sandboxFunction()
