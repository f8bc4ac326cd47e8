import Foundation

/// A model with attributes of every type, names that collide or mean something in SQL, an abstract entity with others
/// below it, relationships of every kind, and objects for it.
enum ZooModel {
  static let contents = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
      <entity name="Animal" isAbstract="YES">
        <attribute name="name" attributeType="String"/>
        <relationship name="keeper" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Keeper" inverseName="animals" inverseEntity="Keeper"/>
      </entity>
      <entity name="Lion" parentEntity="Animal">
        <attribute name="maneLength" optional="YES" attributeType="Double"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <relationship name="prey" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag"/>
      </entity>
      <entity name="Cub" parentEntity="Lion">
        <attribute name="age" optional="YES" attributeType="Integer 16"/>
      </entity>
      <entity name="Seal" parentEntity="Animal">
        <attribute name="title" optional="YES" attributeType="Boolean"/>
      </entity>
      <entity name="Keeper">
        <attribute name="birthDate" attributeType="Date"/>
        <attribute name="group" optional="YES" attributeType="Boolean"/>
        <attribute name="height" optional="YES" attributeType="Double" minValueString="0"/>
        <attribute name="id" optional="YES" attributeType="Integer 64"/>
        <attribute name="imageURL" optional="YES" attributeType="URI"/>
        <attribute name="image_url" optional="YES" attributeType="String"/>
        <attribute name="mid" optional="YES" attributeType="Integer 32"/>
        <attribute name="notes" optional="YES" attributeType="Transformable"/>
        <attribute name="order" optional="YES" attributeType="String"/>
        <attribute name="pay" optional="YES" attributeType="Decimal"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="plain" optional="YES" attributeType="Binary"/>
        <attribute name="rowid" optional="YES" attributeType="String"/>
        <attribute name="small" optional="YES" attributeType="Integer 16"/>
        <attribute name="uuid" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
        <attribute name="weight" optional="YES" attributeType="Float"/>
        <relationship name="animals" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Animal" inverseName="keeper" inverseEntity="Animal"/>
        <relationship name="boss" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Keeper" inverseName="minions" inverseEntity="Keeper"/>
        <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Keeper" inverseName="friends" inverseEntity="Keeper"/>
        <relationship name="minions" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Keeper" inverseName="boss" inverseEntity="Keeper"/>
        <relationship name="tags" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="keepers" inverseEntity="Tag"/>
        <fetchedProperty name="elders" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="Keeper" predicateString="small &gt; 3"/></fetchedProperty>
      </entity>
      <entity name="Select">
        <attribute name="from" optional="YES" attributeType="String"/>
        <attribute name="table" optional="YES" attributeType="String"/>
      </entity>
      <entity name="Tag">
        <attribute name="label" optional="YES" attributeType="String"/>
        <relationship name="keepers" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Keeper" inverseName="tags" inverseEntity="Keeper"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="label"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      <entity name="URLThing"><attribute name="a" optional="YES" attributeType="String"/></entity>
      <entity name="URL_Thing"><attribute name="b" optional="YES" attributeType="String"/></entity>
      <entity name="Void"/>
    </model>
    """

  /// Writes the model into a folder.
  static func write(to folder: String) throws -> String {
    let path = folder + "/Zoo.xcdatamodel"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try contents.write(toFile: path + "/contents", atomically: false, encoding: .utf8)
    return path
  }

  /// The name of a file with external data.
  static let photo = "0B6E2C1D-7C3F-4E55-9E3B-6D1C8F0A2B11"

  /// A text that is longer than a page of the file, and one of more than 16 KiB.
  static let long = String(repeating: "A long text. ", count: 700)
  static let longer = String(repeating: "é, and a longer one. ", count: 1000)

  /// Objects as `import` takes them.
  static let objects = """
    {"entity":"Keeper","key":1,"attributes":{"birthDate":"1969-07-20T20:17:40.123456Z","group":true,"height":1.75,"id":-7,"imageURL":"http://a.b/c","image_url":"x","mid":2000000000,"notes":"AAECAwQ=","order":"first","pay":12.5,"photo":"AQID","plain":"/////w==","rowid":"r","small":-32768,"uuid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8","weight":70.25},"relationships":{"friends":[2,3],"tags":[3,1,2]}}
    {"entity":"Keeper","key":2,"attributes":{"birthDate":"2024-02-29T00:00:00.000001Z","group":false,"height":0.1,"id":9223372036854775807,"pay":0.000001,"photo":{"externalFile":"\(photo)"},"order":"a\\u0000b","weight":1e-7},"relationships":{"boss":1,"friends":[1],"tags":[2]}}
    {"entity":"Keeper","key":5,"attributes":{"birthDate":"0001-01-01T00:00:00Z","order":"\(long)","pay":-123456789.25,"rowid":"\(longer)"},"relationships":{"boss":1}}
    {"entity":"Keeper","key":3,"attributes":{"birthDate":"9999-12-31T23:59:59Z","order":"it's \\"quoted\\"","pay":3},"relationships":{"boss":2,"friends":[1]}}
    {"entity":"Lion","key":1,"attributes":{"name":"Leo","maneLength":0.5,"title":"King"},"relationships":{"prey":[1]}}
    {"entity":"Cub","key":2,"attributes":{"name":"Kit","age":3}}
    {"entity":"Cub","key":3,"attributes":{"name":"Kat","title":"Prince"}}
    {"entity":"Seal","key":7,"attributes":{"name":"Sal","title":true}}
    {"entity":"Keeper","key":9,"attributes":{"birthDate":"2001-01-01T00:00:00Z"},"relationships":{"animals":[{"entity":"Seal","key":7},{"entity":"Lion","key":1},{"entity":"Cub","key":2}]}}
    {"entity":"Select","key":1,"attributes":{"from":"here","table":"round"}}
    {"entity":"Tag","key":1,"attributes":{"label":"one"}}
    {"entity":"Tag","key":2,"attributes":{"label":"two"}}
    {"entity":"Tag","key":3}
    {"entity":"URLThing","key":1,"attributes":{"a":"1"}}
    {"entity":"URL_Thing","key":1,"attributes":{"b":"2"}}
    """

  /// A store with the objects, and a file with external data.
  static func store(_ folder: CommandFolder) throws -> (store: String, model: String) {
    let (model, store, lines) = (try write(to: folder.path), folder.file("Zoo.sqlite"), folder.newPath("zoo.jsonl"))
    try objects.write(toFile: lines, atomically: false, encoding: .utf8)
    let files = folder.newPath("files")
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(
      to: URL(fileURLWithPath: files + "/" + photo))
    let made = try folder.run("godwit", ["import", model, lines, "--output", store, "--external", files])
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no store: \(made)") }
    return (store, model)
  }
}
