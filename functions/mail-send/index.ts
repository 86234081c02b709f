import { edgeFunction } from '../../shared/http/edge.ts'
import { mailSend } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(mailSend, run)
