import { edgeFunction } from '../../shared/http/edge.ts'
import { mailRead } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(mailRead, run)
