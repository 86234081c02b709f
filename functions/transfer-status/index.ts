import { edgeFunction } from '../../shared/http/edge.ts'
import { transferStatus } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(transferStatus, run)
