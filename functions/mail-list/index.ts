import { edgeFunction } from '../../shared/http/edge.ts'
import { mailList } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(mailList, run)
