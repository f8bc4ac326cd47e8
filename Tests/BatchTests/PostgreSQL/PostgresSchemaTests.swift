import Testing

@testable import CoreDataModel
@testable import LoadTables
@testable import MappingModels
@testable import PostgresLoads

@Suite("Tables of PostgreSQL for a model") struct PostgresSchemaTests {
  /// An abstract root with two entities below it, every kind of relationship, and names that collide.
  static var model: ManagedObjectModel {
    var party = EntityDescription(
      name: "Party", isAbstract: true, attributes: [.init(name: "name", type: .string, isOptional: false)])
    party.uniquenessConstraints = [["name"]]
    var person = EntityDescription(name: "Person", superentity: "Party")
    person.attributes = [.init(name: "birthDate", type: .date), .init(name: "code", type: .integer16)]
    person.relationships = [
      .toOne("employer", "Company", inverse: "employees"), .toMany("friends", "Person", inverse: "friends"),
      .toMany("tags", "Tag", inverse: "people", isOrdered: true),
    ]
    var company = EntityDescription(name: "Company", superentity: "Party")
    company.attributes = [.init(name: "code", type: .string), .init(name: "logo", type: .binaryData)]
    company.relationships = [.toMany("employees", "Person", inverse: "employer", isOrdered: true)]
    var tag = EntityDescription(name: "Tag")
    tag.attributes = [.init(name: "id", type: .uuid), .init(name: "weight", type: .decimal)]
    tag.relationships = [.toMany("people", "Person", inverse: "tags"), .toMany("notes", "Note")]
    let note = EntityDescription(name: "Note", attributes: [.init(name: "isDone", type: .boolean, isOptional: false)])
    return ManagedObjectModel(name: "M", entities: [party, person, company, tag, note])
  }

  private func script(_ change: (inout PostgresOptions) -> Void = { _ in }) throws -> String {
    var options = PostgresOptions()
    options.schema = "app"
    change(&options)
    return PostgresStatements(schema: try LoadSchemaPlanner.plan(Self.model, options)).script
  }

  @Test("One table for a root: sub-entities' columns beside it, keys and order, indexes and what refers to what")
  func root() throws {
    let script = try script()
    for wanted in [
      """
      CREATE TABLE app.party (
        id bigint NOT NULL,
        entity text NOT NULL,
        code smallint,
        employer_id bigint,
        employer_order bigint,
        birth_date timestamptz,
        name text NOT NULL,
        company_code text,
        logo bytea
      );
      """,
      "CREATE TABLE app.tag (\n  pk bigint NOT NULL,\n  weight numeric,\n  id uuid\n);",
      "CREATE TABLE app.note (\n  id bigint NOT NULL,\n  is_done boolean NOT NULL,\n  tag_notes_id bigint\n);",
      "CREATE TABLE app.person_tags (\n  person_id bigint NOT NULL,\n  tag_id bigint NOT NULL,\n  tags_order bigint\n);",
      "CREATE TABLE app.person_friends (\n  person_id bigint NOT NULL,\n  friends_id bigint NOT NULL\n);",
      "ALTER TABLE app.party ADD PRIMARY KEY (id);", "ALTER TABLE app.person_tags ADD PRIMARY KEY (person_id, tag_id);",
      "ALTER TABLE app.party ADD CONSTRAINT party_name_key UNIQUE (name);",
      "CREATE INDEX party_employer_id_idx ON app.party (employer_id);",
      // Both ways of a relationship that is its own inverse (PG3).
      "ALTER TABLE app.person_friends ADD PRIMARY KEY (person_id, friends_id);",
      "ON app.person_friends (friends_id, person_id);",
      "FOREIGN KEY (employer_id) REFERENCES app.party (id) NOT VALID;",
      "FOREIGN KEY (tag_notes_id) REFERENCES app.tag (pk) NOT VALID;",
    ] { #expect(script.contains(wanted), "\(wanted)\n\(script)") }
  }

  @Test(
    "One table for each class: its own columns, its key that of the table above, and keys that lead to the class itself"
  )
  func classes() throws {
    let script = try script { $0.inheritance = .class }
    for wanted in [
      "CREATE TABLE app.party (\n  id bigint NOT NULL,\n  entity text NOT NULL,\n  name text NOT NULL\n);",
      "CREATE TABLE app.company (\n  id bigint NOT NULL,\n  code text,\n  logo bytea\n);",
      "CREATE TABLE app.person (\n  id bigint NOT NULL,\n  code smallint,\n  employer_id bigint,\n  employer_order bigint,\n  birth_date timestamptz\n);",
      "FOREIGN KEY (id) REFERENCES app.party (id) NOT VALID;",
      "FOREIGN KEY (employer_id) REFERENCES app.company (id) NOT VALID;",
      "FOREIGN KEY (person_id) REFERENCES app.person (id) NOT VALID;",
    ] { #expect(script.contains(wanted), "\(wanted)\n\(script)") }
  }

  @Test("Core Data's names stay where they are asked for")
  func coreDataNames() throws {
    let script = try script { $0.names = .coreData }
    for wanted in [
      "CREATE TABLE app.\"ZPARTY\" (\n  \"Z_PK\" bigint NOT NULL,\n  \"Z_ENT\" integer NOT NULL,\n", "\"ZCODE1\" ",
      "\"Z_FOK_EMPLOYER\" bigint",
      "REFERENCES app.\"ZPARTY\" (\"Z_PK\") NOT VALID;",
    ] { #expect(script.contains(wanted), "\(wanted)\n\(script)") }
  }

  @Test("An R-tree, which has no counterpart, is a note; all other indexes and keys are made")
  func trees() throws {
    var model = Self.model
    let place = try #require(model.entities.firstIndex { $0.name == "Tag" })
    model.entities[place].indexes = [
      .init(name: "byPlace", elements: [.init(property: "weight", type: "RTree")]),
      .init(name: "byWeight", elements: [.init(property: "weight")]),
    ]
    model.entities[place].uniquenessConstraints = [["id"]]
    let schema = try LoadSchemaPlanner.plan(model, PostgresOptions())
    #expect(schema.notes == ["byPlace of Tag is not created: it is an R-tree"])
    let script = PostgresStatements(schema: schema).script
    for wanted in [
      "ADD CONSTRAINT tag_id_key UNIQUE (id);", "CREATE INDEX tag_weight_idx", "party_name_key UNIQUE (name)",
    ] {
      #expect(script.contains(wanted), "\(script)")
    }
  }

  @Test("Names with quotes, words of SQL and great length stay names", arguments: TableInheritance.allCases)
  func hostileNames(inheritance: TableInheritance) throws {
    var options = PostgresOptions()
    (options.schema, options.inheritance) = ("a\"b", inheritance)
    let long = String(repeating: "Long", count: 30)
    let entities = ["Select", "User", long, long + "2"].map {
      EntityDescription(
        name: $0, attributes: [.init(name: "order", type: .string), .init(name: long + "x", type: .string)])
    }
    let schema = try LoadSchemaPlanner.plan(ManagedObjectModel(name: "M", entities: entities), options)
    #expect(Set(schema.tables.map(\.name)).count == 4)
    let script = PostgresStatements(schema: schema).script
    #expect(script.contains("CREATE TABLE \"a\"\"b\".\"select\" (\n  id bigint NOT NULL,\n"))
    #expect(script.contains("\"order\" text"))
    for table in schema.tables {
      for name in [table.name] + table.columns.map(\.name) { #expect(name.utf8.count <= 63) }
    }
  }
}
