import { basename, join } from 'node:path'
import ts from '@typescript/typescript6'
import { root, subpaths } from './sources.ts'

/** A type that the package exports, or that such a type extends. */
export interface PublicType {
  readonly name: string
  /** The folder of `src` that it is declared in; `root` for files directly in `src`. */
  readonly folder: string
  readonly members: readonly PublicMember[]
}

/** A member of a public type, and whether it has a doc comment. */
export interface PublicMember {
  readonly name: string
  readonly isDocumented: boolean
}

/** A type that stands in a public signature, and where. */
export interface NamedType {
  readonly name: string
  /** The public name, and the types from there to the signature: `Server > ToolHandler`. */
  readonly path: string
}

const dist = join(root, 'dist')

/** The built declarations, as the compiler reads them. */
export class Declarations {
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  /** Each subpath with what it exports. */
  readonly #exports = new Map<string, readonly ts.Symbol[]>()

  constructor() {
    const files = subpaths().map(({ list }) => declarationsOf(list))
    // Names are resolved without the types of JavaScript and Node, which take long to read.
    const options = { module: ts.ModuleKind.NodeNext, noLib: true, types: [], noEmit: true }
    this.#program = ts.createProgram(files, options)
    this.#checker = this.#program.getTypeChecker()
    for (const { specifier, list } of subpaths()) {
      const file = this.#program.getSourceFile(declarationsOf(list))
      const module = file && this.#checker.getSymbolAtLocation(file)
      if (module === undefined) throw new Error(`${specifier} has no declarations`)
      this.#exports.set(specifier, this.#checker.getExportsOfModule(module))
    }
  }

  /** Every name that any file of declarations declares. */
  declaredNames(): string[] {
    return this.#program
      .getSourceFiles()
      .filter(file => file.fileName.startsWith(dist))
      .flatMap(file => file.statements.flatMap(namesOf))
  }

  /** The names that a subpath exports as values. */
  values(specifier: string): string[] {
    return (this.#exports.get(specifier) ?? [])
      .filter(symbol => !isTypeExport(symbol) && isValue(this.#resolved(symbol)))
      .map(({ name }) => name)
      .sort()
  }

  /** The types that subpaths export, and those that these extend. */
  publicTypes(): PublicType[] {
    const found = new Map<ts.Symbol, PublicType>()
    const visit = (symbol: ts.Symbol): void => {
      if (found.has(symbol)) return
      const declarations = (symbol.declarations ?? []).filter(isTypeDeclaration)
      const [first] = declarations
      // Types of other packages are documented there.
      if (first === undefined || first.getSourceFile().fileName.includes('/node_modules/')) return
      const folder = basename(first.getSourceFile().fileName, '.d.ts')
      found.set(symbol, { name: symbol.name, folder, members: declarations.flatMap(membersOf) })
      for (const { expression } of declarations.flatMap(basesOf)) {
        const base = this.#symbolOf(expression)
        if (base !== undefined) visit(base)
      }
    }
    for (const symbol of this.#exported()) visit(symbol)
    return [...found.values()]
  }

  /**
   * The types that stand in public signatures, directly or in the members of other types, and that no subpath
   * exports. Leaves out generic types that compute a type from another: signatures show their results.
   */
  unnamedTypes(): NamedType[] {
    const exported = this.#exported()
    const seen = new Set(exported)
    const queue = Array.from(exported, symbol => ({ symbol, path: symbol.name }))
    const unnamed: NamedType[] = []
    for (const { symbol, path } of queue) {
      for (const used of (symbol.declarations ?? []).flatMap(node => this.#usedIn(node))) {
        if (seen.has(used)) continue
        seen.add(used)
        queue.push({ symbol: used, path: `${path} > ${used.name}` })
        if (isNameable(used)) unnamed.push({ name: used.name, path })
      }
    }
    return unnamed
  }

  #exported(): Set<ts.Symbol> {
    return new Set([...this.#exports.values()].flat().map(symbol => this.#resolved(symbol)))
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
    return isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #symbolOf(name: ts.Node): ts.Symbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(name)
    const resolved = symbol && this.#resolved(symbol)
    const [declaration] = resolved?.declarations ?? []
    return declaration?.getSourceFile().fileName.startsWith(dist) ? resolved : undefined
  }

  /** The types of the package whose names stand in a node. */
  #usedIn(node: ts.Node): ts.Symbol[] {
    const names = [nameIn(node)].flatMap(name => (name && this.#symbolOf(name)) ?? [])
    const used = names.filter(({ flags }) => (flags & ts.SymbolFlags.TypeParameter) === 0)
    used.push(...shownParts(node).flatMap(part => this.#usedIn(part)))
    return used
  }
}

function declarationsOf(list: string): string {
  return join(dist, list.replace(/\.ts$/, '.d.ts'))
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  }
  const isNamed = isTypeDeclaration(statement) || ts.isFunctionDeclaration(statement)
  return isNamed && statement.name !== undefined ? [statement.name.text] : []
}

function isTypeExport(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    node => ts.isExportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly),
  )
}

function isValue({ flags }: ts.Symbol): boolean {
  return (flags & ts.SymbolFlags.Value) !== 0
}

type TypeDeclaration = ts.InterfaceDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration

function isTypeDeclaration(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  )
}

function basesOf(node: TypeDeclaration): ts.ExpressionWithTypeArguments[] {
  if (ts.isTypeAliasDeclaration(node)) return []
  return (node.heritageClauses ?? []).flatMap(({ types }) => [...types])
}

/** The parts of a node that its result can show: of a computed type, not what it is computed from. */
function shownParts(node: ts.Node): ts.Node[] {
  if (ts.isConditionalTypeNode(node)) return [node.trueType, node.falseType]
  if (ts.isMappedTypeNode(node)) return node.type === undefined ? [] : [node.type]
  if (ts.isIndexedAccessTypeNode(node)) return [node.objectType]
  const parts: ts.Node[] = []
  ts.forEachChild(node, child => void parts.push(child))
  return parts
}

/** Whether a program can have a use for the name: not for that of a constant, or of a computed type. */
function isNameable({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(
    node =>
      isTypeDeclaration(node) &&
      !(
        ts.isTypeAliasDeclaration(node) &&
        node.typeParameters !== undefined &&
        isComputed(node.type)
      ),
  )
}

function isComputed(node: ts.TypeNode): boolean {
  if (ts.isParenthesizedTypeNode(node)) return isComputed(node.type)
  if (ts.isIndexedAccessTypeNode(node)) return isComputed(node.objectType)
  if (ts.isUnionTypeNode(node)) return node.types.every(isComputed)
  return ts.isConditionalTypeNode(node) || ts.isMappedTypeNode(node)
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isExpressionWithTypeArguments(node)) return node.expression
  if (ts.isTypeQueryNode(node)) return node.exprName
  if (ts.isImportTypeNode(node)) return node.qualifier
  return undefined
}

/**
 * Returns the members of a type, and those of objects in it. A member with one possible value, such as
 * `type: 'request'`, only tells types apart. Objects that are parameters belong to their function.
 */
function membersOf(node: ts.Node): PublicMember[] {
  if (ts.isParameter(node) || ts.isConstructorDeclaration(node)) return []
  if (ts.isConditionalTypeNode(node)) return [node.trueType, node.falseType].flatMap(membersOf)
  const members: PublicMember[] = []
  const { name } = node as { readonly name?: ts.PropertyName }
  if (isMember(node) && name !== undefined && !ts.isComputedPropertyName(name)) {
    if (!ts.isPrivateIdentifier(name) && !(ts.isPropertySignature(node) && isTag(node.type))) {
      members.push({
        name: name.getText(),
        isDocumented: ts.getJSDocCommentsAndTags(node).length > 0,
      })
    }
  }
  ts.forEachChild(node, child => void members.push(...membersOf(child)))
  return members
}

function isMember(node: ts.Node): boolean {
  return (
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node)
  )
}

function isTag(type: ts.TypeNode | undefined): boolean {
  if (type === undefined) return false
  const { kind } = type
  return (
    ts.isLiteralTypeNode(type) ||
    ts.isInferTypeNode(type) ||
    kind === ts.SyntaxKind.UndefinedKeyword
  )
}
