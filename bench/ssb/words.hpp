// Vocabularies of the Star Schema Benchmark. They are those of TPC-H's specification (clause 4.2.2.13).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strom::ssb {

struct Nation {
  std::string_view name;
  std::string_view region;
};

inline constexpr std::array<Nation, 25> kNations = {{
    {"ALGERIA", "AFRICA"},
    {"ARGENTINA", "AMERICA"},
    {"BRAZIL", "AMERICA"},
    {"CANADA", "AMERICA"},
    {"EGYPT", "MIDDLE EAST"},
    {"ETHIOPIA", "AFRICA"},
    {"FRANCE", "EUROPE"},
    {"GERMANY", "EUROPE"},
    {"INDIA", "ASIA"},
    {"INDONESIA", "ASIA"},
    {"IRAN", "MIDDLE EAST"},
    {"IRAQ", "MIDDLE EAST"},
    {"JAPAN", "ASIA"},
    {"JORDAN", "MIDDLE EAST"},
    {"KENYA", "AFRICA"},
    {"MOROCCO", "AFRICA"},
    {"MOZAMBIQUE", "AFRICA"},
    {"PERU", "AMERICA"},
    {"CHINA", "ASIA"},
    {"ROMANIA", "EUROPE"},
    {"SAUDI ARABIA", "MIDDLE EAST"},
    {"VIETNAM", "ASIA"},
    {"RUSSIA", "EUROPE"},
    {"UNITED KINGDOM", "EUROPE"},
    {"UNITED STATES", "AMERICA"},
}};

inline constexpr std::array<std::string_view, 92> kColours = {
    "almond",   "antique", "aquamarine", "azure",     "beige",      "bisque",    "black",     "blanched", "blue",
    "blush",    "brown",   "burlywood",  "burnished", "chartreuse", "chiffon",   "chocolate", "coral",    "cornflower",
    "cornsilk", "cream",   "cyan",       "dark",      "deep",       "dim",       "dodger",    "drab",     "firebrick",
    "floral",   "forest",  "frosted",    "gainsboro", "ghost",      "goldenrod", "green",     "grey",     "honeydew",
    "hot",      "indian",  "ivory",      "khaki",     "lace",       "lavender",  "lawn",      "lemon",    "light",
    "lime",     "linen",   "magenta",    "maroon",    "medium",     "metallic",  "midnight",  "mint",     "misty",
    "moccasin", "navajo",  "navy",       "olive",     "orange",     "orchid",    "pale",      "papaya",   "peach",
    "peru",     "pink",    "plum",       "powder",    "puff",       "purple",    "red",       "rose",     "rosy",
    "royal",    "saddle",  "salmon",     "sandy",     "seashell",   "sienna",    "sky",       "slate",    "smoke",
    "snow",     "spring",  "steel",      "tan",       "thistle",    "tomato",    "turquoise", "violet",   "wheat",
    "white",    "yellow"};

inline constexpr std::array<std::string_view, 6> kTypeSizes = {"STANDARD", "SMALL",   "MEDIUM",
                                                               "LARGE",    "ECONOMY", "PROMO"};
inline constexpr std::array<std::string_view, 5> kTypeFinishes = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED",
                                                                  "BRUSHED"};
inline constexpr std::array<std::string_view, 5> kTypeMetals = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
inline constexpr std::array<std::string_view, 5> kContainerSizes = {"SM", "LG", "MED", "JUMBO", "WRAP"};
inline constexpr std::array<std::string_view, 8> kContainerKinds = {"CASE", "BOX",  "BAG", "JAR",
                                                                    "PKG",  "PACK", "CAN", "DRUM"};
inline constexpr std::array<std::string_view, 5> kSegments = {"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY",
                                                              "HOUSEHOLD"};
inline constexpr std::array<std::string_view, 5> kPriorities = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED",
                                                                "5-LOW"};
inline constexpr std::array<std::string_view, 7> kShipModes = {"REG AIR", "AIR",  "RAIL", "SHIP",
                                                               "TRUCK",   "MAIL", "FOB"};
inline constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                             "May",       "June",     "July",     "August",
                                                             "September", "October",  "November", "December"};
inline constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                              "Thursday", "Friday", "Saturday"};

}  // namespace strom::ssb
